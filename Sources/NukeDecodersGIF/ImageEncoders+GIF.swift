public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageEncoders {
    /// Encodes GIF: stills, and animations with all their frames, as they are played.
    ///
    /// Up to 256 colours stay as they are; of more, those are chosen that serve best, by the sum of squares. Pixels with an
    /// alpha below one half become transparent, others opaque. Frames after the first are cut to what changed, and have
    /// colours of their own where the first frame's serve them worse than it. 16 bits a sample become 8. The ICC profile of
    /// the image is stored, metadata is not. Equal containers give equal bytes.
    public struct GIF: ImageEncoding {
        static let maximumSide = 0xFFFF
        private static let codec = ImageDecoders.GIF.codec

        private let isDithered: Bool

        /// Creates an encoder; none of the options counts for GIF.
        ///
        /// - Parameters:
        ///   - options: What other formats are told.
        ///   - isDithered: Whether errors are handed on to the pixels around, by Floyd and Steinberg's numbers, which breaks up
        ///     steps in gradients. False by default: each pixel is then as near to the picture as it can be, the file
        ///     smaller, and what does not move stays as it is.
        public init(options: ImageEncodingOptions = ImageEncodingOptions(), isDithered: Bool = false) {
            self.isDithered = isDithered
        }

        /// The file of a still; nil for a side of more than 65,535 pixels, or without memory.
        public func encode(_ image: PlatformImage) -> Data? { try? still(image) }

        /// The file, with all frames if the container has an animation of several.
        ///
        /// Durations become hundredths of a second, 2 at least and 65,535 at most; what rounding takes from one frame the
        /// next has. Plays count up to 65,536.
        ///
        /// Throws `unsupported` for a side of more than 65,535 pixels, `failed` without memory or if a frame can't be made.
        public func encodedData(
            for container: ImageContainer, context: ImageEncodingContext
        ) throws(ImageEncodingError) -> Data {
            guard let animation = container.animation, animation.frameCount > 1 else {
                return try still(container.image)
            }
            return try animated(animation)
        }

        private func still(_ image: Bitmap) throws(ImageEncodingError) -> Data {
            try Self.check(image)
            guard let image = image.convertedToRGBA8() else {
                throw .failed("no memory for the picture", codec: Self.codec)
            }
            var canvas = GIFCanvas(width: image.width, height: image.height)
            var writer = GIFWriter(isDithered: isDithered)
            let header = GIFWriter.Header(
                width: image.width, height: image.height, playCount: 1, profile: image.colorSpace.iccProfile,
                isAnimated: false)
            writer.write(header, first: canvas.part(of: GIFPicture(image), following: nil), delay: 0)
            return writer.finish()
        }

        private func animated(_ animation: ImageAnimation) throws(ImageEncodingError) -> Data {
            let first = try animation.frameToEncode(at: 0, size: nil, codec: Self.codec)
            try Self.check(first)
            let delays = Self.delays(animation.durations)
            var canvas = GIFCanvas(width: first.width, height: first.height)
            var writer = GIFWriter(isDithered: isDithered)
            let header = GIFWriter.Header(
                width: first.width, height: first.height, playCount: animation.playCount,
                profile: first.colorSpace.iccProfile, isAnimated: true)
            var frame = GIFPicture(first)
            for index in delays.indices {
                var following: GIFPicture?
                if index + 1 < delays.count {
                    let size = (first.width, first.height)
                    following = GIFPicture(try animation.frameToEncode(at: index + 1, size: size, codec: Self.codec))
                }
                let part = canvas.part(of: frame, following: following)
                if index == 0 {
                    writer.write(header, first: part, delay: delays[0])
                } else {
                    writer.write(part, delay: delays[index])
                }
                if let following { frame = following }
            }
            return writer.finish()
        }

        private static func check(_ image: Bitmap) throws(ImageEncodingError) {
            guard image.width <= maximumSide, image.height <= maximumSide else {
                throw .unsupported(
                    "\(image.width)x\(image.height) pixels; a side may have \(maximumSide)", codec: codec)
            }
        }

        /// Hundredths of a second for each frame: together as long as all frames, as far as each can be.
        ///
        /// Players show less than 2 for a tenth of a second, as ours does.
        private static func delays(_ durations: [Double]) -> [Int] {
            var rest = 0.0
            return durations.map { duration in
                let wanted = (duration.isFinite ? min(max(duration, 0) * 100, 65_535) : 65_535) + rest
                let delay = min(max(wanted.rounded(), 2), 65_535)
                // What can't be is not made up for by others.
                rest = abs(wanted - delay) <= 0.5 ? wanted - delay : 0
                return Int(delay)
            }
        }
    }
}
