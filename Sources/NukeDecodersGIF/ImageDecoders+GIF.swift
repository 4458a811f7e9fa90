public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageDecoders {
    /// Decodes the first frame of a GIF, on a transparent canvas, and attaches the data to its container.
    ///
    /// Frames may reach beyond the canvas, which is what counts; what an index beyond the palette shows is black. Where the
    /// data ends, or is damaged, within the first frame, the rows before that are the image, marked by `isTruncatedKey` if
    /// the data ends, whatever the truncation policy; without a row there is none. While data arrives, there is one preview.
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
        /// Frames that are there to their last byte count, and the first in any case. Throws if there is none.
        public func properties(of data: Data) throws(ImageDecodingError) -> ImageProperties? {
            let bytes = data.bytes
            let header = try GIFHeader(bytes)
            var walk = GIFWalk(header)
            let first = try firstFrame(&walk, bytes)
            var (delays, hasAlpha) = ([first.control.delay], !first.covers(header))
            var frame = first
            while true {
                hasAlpha = hasAlpha || frame.control.transparentIndex != nil
                guard case .frame(let next) = walk.next(in: bytes), walk.isFrameComplete(in: bytes) else { break }
                hasAlpha = hasAlpha || frame.control.isCleared
                guard delays.count < context.limits.frameCount else {
                    throw .limitExceeded("more than \(delays.count) frames", codec: Self.codec)
                }
                delays.append(next.control.delay)
                frame = next
            }
            var properties = ImageProperties(
                type: .gif, storedWidth: header.width, storedHeight: header.height, hasAlpha: hasAlpha,
                bitDepth: first.bitDepth, colorModel: .indexed, hasICCProfile: walk.profileStart != nil,
                isProgressive: first.isInterlaced)
            properties.frameCount = delays.count
            properties.loopCount = walk.loopCount
            if delays.count > 1 { properties.frameDurations = delays.map { Double($0) / 100 } }
            properties.workingSetBytes = rendering(header, first).workingSetBytes
            return properties
        }

        /// The first frame, at a size of at least twice the context's hint, with `data` attached.
        ///
        /// Looks at the cancellation flag and the clock at least every 64 rows.
        public func decode(_ data: Data) throws(ImageDecodingError) -> ImageContainer {
            try context.cancellation.check()
            var container: ImageContainer
            if case .given(let whole?) = preview.state.withLock({ $0 }) {
                container = whole
                container.isPreview = false
            } else {
                container = try firstFrame(of: data).container
            }
            container.data = data
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
                var (container, isHalf) = try firstFrame(of: data)
                guard isWhole || isHalf else { return nil }
                container.isPreview = true
                state = .given(isWhole ? container : nil)
                return container
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

        private func firstFrame(_ walk: inout GIFWalk, _ bytes: RawSpan) throws(ImageDecodingError) -> GIFFrame {
            switch walk.next(in: bytes) {
            case .frame(let frame): return frame
            case .end: throw .corruptData("there is no frame", codec: Self.codec)
            case .truncated: throw .truncated("the data ends before the first frame", codec: Self.codec)
            }
        }

        private func firstFrame(
            of data: Data
        ) throws(ImageDecodingError) -> (container: ImageContainer, isHalf: Bool) {
            let bytes = data.bytes
            let header = try GIFHeader(bytes)
            var walk = GIFWalk(header)
            let rendering = rendering(header, try firstFrame(&walk, bytes))
            try rendering.check(context.limits)
            let picture = try rendering.picture(from: bytes, watch: DecodingWatch(context))
            let profile = walk.profile(in: bytes, limit: context.limits.metadataBytes)
            let space = profile.flatMap { ColorSpace(iccProfile: $0, for: .rgba8) } ?? .sRGB
            let (isOpaque, isTruncated) = (picture.isOpaque, picture.isTruncated)
            let isHalf = picture.rowCount * 2 >= rendering.neededRowCount
            let image = picture.pixels.freeze(isOpaque: isOpaque, colorSpace: space)
            var container = try context.makeContainer(
                image: image, type: .gif, originalSize: ImageSize(width: header.width, height: header.height))
            if isTruncated { container.userInfo[.isTruncatedKey] = true }
            return (container, isHalf)
        }

        private func rendering(_ header: GIFHeader, _ frame: GIFFrame) -> GIFRendering {
            let size = ImageSize(width: header.width, height: header.height)
            return GIFRendering(header, frame, hint: context.decodeHint(for: size))
        }
    }
}
