public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageDecoders {
    /// Decodes GIF: the first frame on a transparent canvas is the image, the others are the container's animation.
    ///
    /// The canvas counts, beyond which frames may reach; the background colour does not. What an index beyond the palette
    /// shows is black. Where the data ends, or is damaged, within the first frame, it is an error, unless the context's
    /// truncation policy is lenient: then the rows before that are the image, marked by `isTruncatedKey`. Later frames count
    /// if they are there to their last byte, or under the lenient policy if they have begun. Damage within one is what asking
    /// for it ends with, and for those drawn on it. The data is attached. While data arrives, there is one preview.
    public struct GIF: ImageDecoding {
        static let codec = "GIF"

        /// What has become of the preview.
        private enum State {
            /// There was none yet; rows are not tried again before there are so many bytes.
            case awaited(byteCount: Int)
            /// It was given; the whole first frame, if that was it.
            case given(ImageContainer?)
        }

        private final class Preview: Sendable {
            let state = Lock(State.awaited(byteCount: 0))
        }

        private let context: ImageDecodingContext
        private let preview = Preview()

        /// Creates the decoder of one load.
        public init(context: ImageDecodingContext) { self.context = context }

        /// What is told outside the pixels: the size, and of how many frames, how long each, and how often all.
        ///
        /// Throws if there is no frame, or more than the limit allows.
        public func properties(of data: Data) throws(ImageDecodingError) -> ImageProperties? {
            let contents = try GIFContents(data.bytes, context)
            let (header, frames) = (contents.header, contents.frames)
            var properties = ImageProperties(
                type: .gif, storedWidth: header.width, storedHeight: header.height, hasAlpha: contents.hasAlpha,
                bitDepth: frames[0].bitDepth, colorModel: .indexed, hasICCProfile: contents.walk.profileStart != nil,
                isProgressive: frames[0].isInterlaced)
            properties.frameCount = frames.count
            properties.loopCount = contents.walk.loopCount
            if frames.count > 1 { properties.frameDurations = contents.delays }
            properties.workingSetBytes = rendering(header, frames[0]).workingSetBytes
            return properties
        }

        /// The first frame, at a size of at least twice the context's hint, with `data` and the animation attached.
        ///
        /// Looks at the cancellation flag and the clock at least every 64 rows.
        public func decode(_ data: Data) throws(ImageDecodingError) -> ImageContainer {
            try context.cancellation.check()
            let contents = try GIFContents(data.bytes, context)
            var (container, isTruncated): (ImageContainer, Bool)
            if case .given(let whole?) = preview.state.withLock({ $0 }) {
                (container, isTruncated) = (whole, contents.isTruncated)
                container.isPreview = false
            } else {
                let first = try firstFrame(of: data)
                if let error = first.error, context.truncationPolicy == .strict { throw error }
                (container, isTruncated) = (first.container, first.error != nil || contents.isTruncated)
            }
            if isTruncated, context.truncationPolicy == .lenient {
                container.userInfo[.isTruncatedKey] = true
            }
            container.data = data
            if contents.frames.count > 1 {
                let frames = GIFFrames(
                    contents.frames, contents.header, data, context: context, colorSpace: container.image.colorSpace)
                container.animation = ImageAnimation(
                    storedDurations: contents.delays, playCount: contents.playCount, frames: frames)
            }
            return container
        }

        /// The one preview: the first frame, as soon as it or half of its rows are there; nil before and after.
        ///
        /// It is given under every policy but `disabled`.
        public func decodePartiallyDownloadedData(_ data: Data) throws(ImageDecodingError) -> ImageContainer? {
            try context.cancellation.check()
            guard context.previewPolicy != .disabled else { return nil }
            return try preview.state.withLock { state throws(ImageDecodingError) in
                guard case .awaited(let byteCount) = state, let isWhole = isFirstFrameWhole(in: data),
                    isWhole || data.count >= byteCount
                else { return nil }
                // Rows are unpacked from the first each time, hence not for every few bytes.
                state = .awaited(byteCount: data.count + data.count / 4)
                var first = try firstFrame(of: data)
                guard isWhole || first.isHalf else { return nil }
                first.container.isPreview = true
                state = .given(isWhole && first.error == nil ? first.container : nil)
                return first.container
            }
        }

        /// Nil if it has not begun.
        private func isFirstFrameWhole(in data: Data) -> Bool? {
            let bytes = data.bytes
            guard let header = try? GIFHeader(bytes) else { return nil }
            var walk = GIFWalk(header)
            guard case .frame = walk.next(in: bytes) else { return nil }
            return walk.isFrameComplete(in: bytes)
        }

        /// The image of as much as there is of the first frame; throws if there is no row of it.
        private func firstFrame(
            of data: Data
        ) throws(ImageDecodingError) -> (container: ImageContainer, isHalf: Bool, error: ImageDecodingError?) {
            let bytes = data.bytes
            let header = try GIFHeader(bytes)
            var walk = GIFWalk(header)
            let rendering = rendering(header, try walk.first(in: bytes))
            try rendering.check(context.limits)
            let watch = DecodingWatch(context, codec: Self.codec)
            let picture = try rendering.picture(from: bytes, watch: watch)
            let profile = walk.profile(in: bytes, limit: context.limits.metadataBytes)
            let space = profile.flatMap { ColorSpace(iccProfile: $0, for: .rgba8) } ?? .sRGB
            let (isOpaque, error) = (picture.isOpaque, picture.error)
            let isHalf = picture.rowCount * 2 >= rendering.neededRowCount
            let image = picture.pixels.freeze(isOpaque: isOpaque, colorSpace: space)
            let container = try context.makeContainer(
                image: image, type: .gif, originalSize: ImageSize(width: header.width, height: header.height))
            return (container, isHalf, error)
        }

        private func rendering(_ header: GIFHeader, _ frame: GIFFrame) -> GIFRendering {
            let size = ImageSize(width: header.width, height: header.height)
            return GIFRendering(header, frame, hint: context.decodeHint(for: size))
        }
    }
}
