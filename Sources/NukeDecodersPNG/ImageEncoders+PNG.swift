public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageEncoders {
    /// Encodes PNG without loss: opaque pictures as RGB, others as RGBA with the alpha divided out, gray ones as gray.
    ///
    /// An animation of several frames becomes an animated PNG (APNG) with all of them, as they are played; what can't read
    /// it shows the first. Pixels of 16 bits a sample stay so in stills. The ICC profile of the bitmap is stored, if it is
    /// sound, and the EXIF data of a container that has it; nothing else is, so equal containers give equal bytes. Decoding
    /// gives back the very pixels of 8-bit bitmaps.
    public struct PNG: ImageEncoding {
        private let isInterlaced: Bool

        /// Creates an encoder; of the options, `isProgressive` asks for Adam7, and those of lossy formats don't count.
        public init(options: ImageEncodingOptions = ImageEncodingOptions()) { isInterlaced = options.isProgressive }

        /// The bytes of a file; nil if libpng is missing or fails, of which `encodedData(for:context:)` tells more.
        public func encode(_ image: PlatformImage) -> Data? {
            try? PNGPicture(image, isInterlaced: isInterlaced).file(metadata: nil)
        }

        /// The bytes of a file, with all frames if the container has an animation of several.
        ///
        /// A duration becomes the nearest fraction of two 16-bit numbers: whole milliseconds below 65.5 s are exact, as is what
        /// another APNG had.
        ///
        /// Throws `missingCodec` without libpng and `failed` if it gives up, as when there is no memory, or if a frame can't be
        /// made.
        public func encodedData(
            for container: ImageContainer, context: ImageEncodingContext
        ) throws(ImageEncodingError) -> Data {
            if let animation = container.animation, animation.frameCount > 1 {
                return try animated(animation, container.metadata)
            }
            return try PNGPicture(container.image, isInterlaced: isInterlaced).file(metadata: container.metadata)
        }

        /// As RGB if the first frame is opaque and the second has changed as a whole; that fails if a later one is not opaque.
        private func animated(
            _ animation: ImageAnimation, _ metadata: ImageMetadata?
        ) throws(ImageEncodingError) -> Data {
            let first = try animation.frameToEncode(at: 0, size: nil, codec: ImageDecoders.PNG.codec)
            if first.isOpaque {
                let second = try frame(1, of: animation, after: first)
                let difference = FrameDifference(from: first, to: second)
                // Pixels that stay are left out of RGBA, which saves more than alpha costs if they are many.
                let isSparse = difference.changedCount * 2 < difference.columns.count * difference.rows.count
                if !isSparse, let file = try animated(animation, first, hasAlpha: false, metadata) { return file }
            }
            guard let file = try animated(animation, first, hasAlpha: true, metadata) else {
                throw .failed("the frames can't be stored", codec: ImageDecoders.PNG.codec)
            }
            return file
        }

        private func frame(
            _ index: Int, of animation: ImageAnimation, after frame: Bitmap
        ) throws(ImageEncodingError) -> Bitmap {
            try animation.frameToEncode(
                at: index, size: (frame.width, frame.height), codec: ImageDecoders.PNG.codec)
        }

        /// Nil if alpha is needed and not there.
        private func animated(
            _ animation: ImageAnimation, _ first: Bitmap, hasAlpha: Bool, _ metadata: ImageMetadata?
        ) throws(ImageEncodingError) -> Data? {
            let durations = animation.durations
            let picture = PNGPicture(first, isInterlaced: isInterlaced, hasAlpha: hasAlpha)
            var writer = PNGAnimationWriter(
                first: try picture.file(metadata: metadata),
                .init(
                    columns: picture.columns, rows: picture.rows, duration: durations[0], isOverlay: false),
                frameCount: animation.frameCount, playCount: animation.playCount)
            var last = first
            for index in 1..<animation.frameCount {
                let frame = try frame(index, of: animation, after: last)
                guard hasAlpha || frame.isOpaque else { return nil }
                let difference = FrameDifference(from: last, to: frame)
                var picture = PNGPicture(frame, isInterlaced: isInterlaced, hasAlpha: hasAlpha)
                // A frame has at least a pixel.
                let isSame = difference.changedCount == 0
                picture.columns = isSame ? 0..<1 : difference.columns
                picture.rows = isSame ? 0..<1 : difference.rows
                let isOverlay = hasAlpha && difference.isOverlay && !isSame
                if isOverlay { picture.background = last }
                writer.add(
                    try picture.file(metadata: nil, hasProfile: false),
                    .init(
                        columns: picture.columns, rows: picture.rows, duration: durations[index], isOverlay: isOverlay))
                last = frame
            }
            return writer.finish()
        }
    }
}
