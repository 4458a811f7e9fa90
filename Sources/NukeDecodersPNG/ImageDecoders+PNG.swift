public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageDecoders {
    /// Decodes PNG, all colour types and depths, to upright premultiplied RGBA, and animated PNG frame by frame.
    ///
    /// Samples have 8 bits; those of 16 are kept with the request's option `preserveBitDepth`. `gAMA` and `cHRM` are passed
    /// over; a matching ICC profile becomes the bitmap's colour space. The orientation of an `eXIf` chunk is applied,
    /// wherever the chunk stands. A picture counts as opaque if the file declares neither an alpha channel nor a `tRNS`
    /// chunk. Damage is never papered over: a picture whose pixels have a wrong checksum is an error, and so is one that is
    /// cut short, unless the context's truncation policy is lenient. Interlaced files have previews, pass by pass.
    ///
    /// Files of Apple's CgBI kind are read too: what is in them is what iOS shows.
    ///
    /// The image is the still picture, whether or not it is a frame of the animation, which has only whole frames.
    public struct PNG: ImageDecoding {
        static let codec = "PNG"

        private struct Progress {
            /// Bytes before which there is no use in looking for another pass.
            var awaitedCount = 0
            /// Passes that the last preview showed.
            var passCount = 0
        }

        private final class Previews: Sendable {
            let progress = Lock(Progress())
        }

        private let context: ImageDecodingContext
        private let previews = Previews()

        /// Creates the decoder of one load.
        public init(context: ImageDecodingContext) { self.context = context }

        /// What the chunks tell; works without libpng.
        ///
        /// Throws if the data is no PNG, ends within the header, or has more frames than the limit.
        public func properties(of data: Data) throws(ImageDecodingError) -> ImageProperties? {
            let bytes = data.bytes
            let header = try PNGHeader(bytes)
            var properties = header.properties
            properties.workingSetBytes = rendering(of: header).workingSetBytes
            if let animation = try PNGAnimation(bytes, header, limits: context.limits), animation.frames.count > 1 {
                properties.frameCount = animation.frames.count
                properties.loopCount = animation.storedPlayCount
                properties.frameDurations = animation.delays
            }
            return properties
        }

        /// The still picture, at a size of at least twice the context's hint, with the animation attached.
        ///
        /// Looks at the cancellation flag and the clock every 64 rows.
        public func decode(_ data: Data) throws(ImageDecodingError) -> ImageContainer {
            let bytes = data.bytes
            let header = try PNGHeader(bytes)
            let animation = try PNGAnimation(bytes, header, limits: context.limits)
            var (container, _, error) = try picture(of: bytes, header)
            let exif = header.exif.map { data[data.startIndex + $0.lowerBound..<data.startIndex + $0.upperBound] }
            try context.attachMetadata(exif: exif, to: &container)
            if let error, context.truncationPolicy == .strict { throw error }
            if context.truncationPolicy == .lenient, error != nil || animation?.isTruncated == true {
                container.userInfo[.isTruncatedKey] = true
            }
            if let animation, animation.addsToStill {
                let frames = PNGFrames(
                    animation.frames, header, data, context: context, colorSpace: container.image.colorSpace)
                container.animation = ImageAnimation(
                    storedDurations: animation.delays, playCount: animation.playCount, frames: frames)
            }
            return container
        }

        /// A preview of an interlaced file, if another of its first six passes is there as a whole; else nil.
        ///
        /// Pixels that have not come are as the nearest that has, above and to the left. The number of passes is in `userInfo`,
        /// under `scanNumberKey`. With the policy `thumbnail` there is one preview.
        public func decodePartiallyDownloadedData(_ data: Data) throws(ImageDecodingError) -> ImageContainer? {
            try context.cancellation.check()
            guard context.previewPolicy != .disabled, PNGHeader.declaresPasses(data.bytes) else { return nil }
            return try previews.progress.withLock { progress throws(ImageDecodingError) in
                guard data.count >= progress.awaitedCount, progress.passCount < 6 else { return nil }
                // Every pass is about as long as all before it, and they are read from the first each time.
                progress.awaitedCount = data.count + data.count / 2
                var (container, passCount, error) = try picture(of: data.bytes, PNGHeader(data.bytes))
                guard error != nil, passCount > progress.passCount else { return nil }
                progress.passCount = context.previewPolicy == .thumbnail ? 6 : passCount
                container.isPreview = true
                container.userInfo[.scanNumberKey] = passCount
                return container
            }
        }

        /// As much as there is of the still picture; throws if that is not a row or a pass, or is damaged.
        private func picture(
            of bytes: RawSpan, _ header: PNGHeader
        ) throws(ImageDecodingError) -> (container: ImageContainer, passCount: Int, error: ImageDecodingError?) {
            let rendering = rendering(of: header)
            try rendering.check(context.limits)
            guard header.isAppleVariant else { return try picture(of: bytes, header, rendering) }
            let file = try header.standardFile(from: bytes)
            return try picture(of: file.bytes, header, rendering)
        }

        private func picture(
            of bytes: RawSpan, _ header: PNGHeader, _ rendering: PNGRendering
        ) throws(ImageDecodingError) -> (container: ImageContainer, passCount: Int, error: ImageDecodingError?) {
            let watch = DecodingWatch(context, codec: ImageDecoders.PNG.codec)
            let reader = try PNGReader(
                bytes, format: format(of: header), isAppleVariant: header.isAppleVariant, limits: context.limits)
            let picture = try rendering.picture(from: reader, watch: watch)
            // libpng takes a profile in spite of a wrong checksum.
            let profile = header.hasICCProfile ? reader.profile : nil
            let space = profile.flatMap { ColorSpace(iccProfile: $0, for: .rgba8) } ?? .sRGB
            let (passCount, error) = (picture.passCount, picture.error)
            let isOpaque = !reader.hasAlpha && (error == nil || header.isInterlaced)
            let image = picture.pixels.freeze(isOpaque: isOpaque, colorSpace: space)
            let container = try context.makeContainer(
                image: image, type: .png, originalSize: rendering.originalSize,
                orientation: keepsLayout ? header.orientation : .up)
            return (container, passCount, error)
        }

        private func format(of header: PNGHeader) -> PixelFormat {
            context.request.options.contains(.preserveBitDepth) && header.bitDepth == 16 ? .rgba16 : .rgba8
        }

        /// Whether the picture is not to be turned.
        private var keepsLayout: Bool { context.request.thumbnail?.createThumbnailWithTransform == false }

        private func rendering(of header: PNGHeader) -> PNGRendering {
            let orientation = keepsLayout ? .up : header.orientation
            let size = orientation.applied(to: ImageSize(width: header.width, height: header.height))
            return PNGRendering(
                header, orientation: orientation, hint: context.decodeHint(for: size), format: format(of: header))
        }
    }
}
