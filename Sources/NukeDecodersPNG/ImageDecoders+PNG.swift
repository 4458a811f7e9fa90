public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageDecoders {
    /// Decodes PNG, all colour types and depths, to upright premultiplied RGBA of 8 bits a sample.
    ///
    /// `gAMA` and `cHRM` are passed over; a matching ICC profile becomes the bitmap's colour space. The orientation of
    /// an `eXIf` chunk is applied, wherever the chunk stands. A picture counts as opaque if the file declares neither
    /// an alpha channel nor a `tRNS` chunk. Damage is never papered over: a picture of which a row is missing, or whose
    /// pixels have a wrong checksum, is an error.
    public struct PNG: ImageDecoding {
        static let codec = "PNG"

        private let context: ImageDecodingContext

        /// Creates the decoder of one load.
        public init(context: ImageDecodingContext) { self.context = context }

        /// What the header tells; works without libpng.
        ///
        /// Throws if the data is no PNG, ends within the header, or is of Apple's CgBI kind.
        public func properties(of data: Data) throws(ImageDecodingError) -> ImageProperties? {
            let header = try PNGHeader(data.bytes)
            var properties = header.properties
            properties.workingSetBytes = rendering(of: header).workingSetBytes
            return properties
        }

        /// The picture, at a size of at least twice the context's hint.
        ///
        /// Looks at the cancellation flag and the clock every 64 rows.
        public func decode(_ data: Data) throws(ImageDecodingError) -> ImageContainer {
            let bytes = data.bytes
            let header = try PNGHeader(bytes)
            let rendering = rendering(of: header)
            try rendering.check(context.limits)
            let watch = DecodingWatch(context)
            let reader = try PNGReader(bytes, limits: context.limits)
            let pixels = try rendering.pixels(from: reader, watch: watch)
            // libpng takes a profile in spite of a wrong checksum.
            let profile = header.hasICCProfile ? reader.profile : nil
            let space = profile.flatMap { ColorSpace(iccProfile: $0, for: .rgba8) } ?? .sRGB
            let image = pixels.freeze(isOpaque: !reader.hasAlpha, colorSpace: space)
            return try context.makeContainer(image: image, type: .png, originalSize: rendering.originalSize)
        }

        private func rendering(of header: PNGHeader) -> PNGRendering {
            let keepsLayout = context.request.thumbnail?.createThumbnailWithTransform == false
            let orientation = keepsLayout ? .up : header.orientation
            let size = orientation.applied(to: ImageSize(width: header.width, height: header.height))
            return PNGRendering(header, orientation: orientation, hint: context.decodeHint(for: size))
        }
    }
}

/// Ends a decode that is no longer wanted or has taken too long.
struct DecodingWatch {
    private let cancellation: CancellationFlag
    private let seconds: Double
    private let start = ContinuousClock.now

    init(_ context: ImageDecodingContext) {
        cancellation = context.cancellation
        seconds = context.limits.seconds
    }

    /// Looks at the flag and the clock at every 64th row; throws if it is over.
    func check(row: Int) throws(ImageDecodingError) {
        guard row % 64 == 0 else { return }
        try cancellation.check()
        guard (ContinuousClock.now - start) / .seconds(1) <= seconds else {
            throw .limitExceeded("decoding takes longer than \(seconds) s", codec: ImageDecoders.PNG.codec)
        }
    }
}
