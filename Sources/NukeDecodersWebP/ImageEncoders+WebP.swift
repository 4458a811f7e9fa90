public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageEncoders {
    /// Encodes WebP, stills and animations: lossy below the quality 1, without loss at it.
    ///
    /// An animation of several frames keeps them all, as they are played; later ones are cut to what changed. Alpha is kept in full; 16 bits a sample become 8, gray becomes RGB. The image's ICC profile is written, and so is the
    /// EXIF data of a container that has it. The same container gives the same bytes each time. Decoding a lossless file gives back the very
    /// pixels of an 8-bit bitmap.
    public struct WebP: ImageEncoding {
        private let options: ImageEncodingOptions

        /// Creates an encoder: a quality of 0…1 becomes libwebp's 0…100, and 1 means without loss.
        ///
        /// Chroma of a lossy WebP always has half the size; asked for all of it, the encoder makes it with more care, which
        /// keeps edges of colour sharper and takes several times as long. `isProgressive` does not count.
        public init(options: ImageEncodingOptions = ImageEncodingOptions()) { self.options = options }

        /// The file; nil if it can't be made, such as for a side of more than 16,383 pixels.
        public func encode(_ image: PlatformImage) -> Data? { try? data(for: image, metadata: nil) }

        /// The file, with all frames if the container has an animation of several.
        ///
        /// Durations become milliseconds, 11 at least and 24 bits at most; what rounding takes from one frame the next has. Plays
        /// count up to 65,535.
        ///
        /// Throws `unsupported` for a side of more than 16,383 pixels, `missingCodec` without libwebp, and `failed` if it gives
        /// up, as when there is no memory, or if a frame can't be made.
        public func encodedData(
            for container: ImageContainer, context: ImageEncodingContext
        ) throws(ImageEncodingError) -> Data {
            if let animation = container.animation, animation.frameCount > 1 {
                return try animated(animation, container.metadata)
            }
            return try data(for: container.image, metadata: container.metadata)
        }

        private func data(for image: Bitmap, metadata: ImageMetadata?) throws(ImageEncodingError) -> Data {
            let compressor = try WebPCompressor(width: image.width, height: image.height)
            var converter = RowConverter(width: image.width, format: image.format)
            for y in 0..<image.height {
                compressor.setRow(y, converter.convert(image.row(y)), isOpaque: image.isOpaque)
            }
            let file = try compressor.encode(method)
            let profile = image.format == .gray8 ? nil : image.colorSpace.iccProfile
            return WebPContainer.adding(profile: profile, exif: metadata?.exif, to: file)
        }

        private func animated(
            _ animation: ImageAnimation, _ metadata: ImageMetadata?
        ) throws(ImageEncodingError) -> Data {
            let codec = ImageDecoders.WebP.codec
            let first = try animation.frameToEncode(at: 0, size: nil, codec: codec)
            var writer = WebPAnimationWriter(
                width: first.width, height: first.height, playCount: animation.playCount)
            let durations = Self.milliseconds(animation.durations)
            try writer.add(
                WebPPart(first).file(method), x: 0, y: 0, milliseconds: durations[0], isOverlay: false)
            var last = first
            for index in 1..<durations.count {
                let frame = try animation.frameToEncode(at: index, size: (first.width, first.height), codec: codec)
                let part = WebPPart(frame, after: last, isLossless: options.quality >= 1)
                // A frame in which nothing changes is one pixel, as it is.
                try writer.add(
                    part.file(part.isSame ? .lossless : method), x: part.columns.lowerBound, y: part.rows.lowerBound,
                    milliseconds: durations[index], isOverlay: part.background != nil)
                last = frame
            }
            return try writer.finish(profile: first.colorSpace.iccProfile, exif: metadata?.exif)
        }

        /// Milliseconds for each frame: together as long as all frames, as far as each can be.
        ///
        /// Players show up to 10 for a tenth of a second, as ours does.
        private static func milliseconds(_ durations: [Double]) -> [Int] {
            var rest = 0.0
            return durations.map { duration in
                let wanted = (duration.isFinite ? min(max(duration, 0) * 1000, 0xFF_FFFF) : 0xFF_FFFF) + rest
                let written = min(max(wanted.rounded(), 11), 0xFF_FFFF)
                // What can't be is not made up for by others.
                rest = abs(wanted - written) <= 0.5 ? wanted - written : 0
                return Int(written)
            }
        }

        /// What is not a number counts as quality 0.
        private var method: WebPCompressor.Method {
            if options.quality >= 1 { return .lossless }
            let quality = options.quality > 0 ? Float(options.quality * 100) : 0
            return .lossy(quality: quality, isChromaSharp: options.chromaSubsampling == .none)
        }
    }
}
