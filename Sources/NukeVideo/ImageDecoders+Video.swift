public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageDecoders {
    /// Decodes the poster of a video, MPEG-4, QuickTime, WebM or Matroska, to upright opaque RGBA of 8 bits a sample.
    ///
    /// Pictures are turned as the container says, brought to square pixels, and converted by the range and the coefficients
    /// that the stream names, in BT.601's where it names none. They are scaled to the size at which they will be used as they are
    /// converted. Alpha is left out. Nothing is probed where the header tells enough, one thread decodes, and nothing outside of the
    /// data is opened. Of a file of sound the poster is the cover, where there is one.
    ///
    /// While the data comes, the poster is decoded as soon as what it needs is there, and is then final; where that is further on,
    /// the decoder asks for ranges. The container's `video` has what the file tells, and frames.
    public struct Video: ImageDecoding {
        static let codec = "video"

        private struct State {
            /// The reader of the data that was looked at last, at its first picture.
            var opened: (byteCount: Int, reader: VideoReader)?
            var download = VideoDownload()
        }

        private final class Memory: Sendable {
            let state = Lock(State())
        }

        private let context: ImageDecodingContext
        private let poster: ImageRequest.VideoPoster
        private let library: VideoLibrary
        private let type: AssetType
        private let memory = Memory()

        /// Creates the decoder of one load; nil if the context's data is no video.
        ///
        /// - Parameters:
        ///   - context: The load.
        ///   - poster: Which picture to take where the request does not say; the first that is not black by default.
        public init?(context: ImageDecodingContext, poster: ImageRequest.VideoPoster = .firstVisible) {
            self.init(context: context, poster: poster, library: .shared)
        }

        init?(context: ImageDecodingContext, poster: ImageRequest.VideoPoster = .firstVisible, library: VideoLibrary) {
            guard case .type(let type) = VideoSniffer.answer(for: context.data, isComplete: context.isCompleted) else {
                return nil
            }
            self.context = context
            self.poster = context.request.videoPoster ?? poster
            self.library = library
            self.type = type
        }

        /// What the container tells of the video; its frames are not counted, so that there is one, the poster.
        ///
        /// Nil as long as the index of a download has not come. Throws if there is no video in it, or the libraries are missing.
        public func properties(of data: Data) throws -> ImageProperties? {
            try memory.state.withLock { state in
                guard state.download.isReadable(data, type, context) else { return nil }
                let source = state.download.source(data, context)
                let reader = try Self.translating { try self.reader(of: source, &state) }
                let size = reader.track.size
                var properties = ImageProperties(
                    type: type, storedWidth: Int(size.width), storedHeight: Int(size.height), hasAlpha: false,
                    bitDepth: 8, colorModel: .rgb)
                properties.workingSetBytes = VideoRendering(reader.track, context, poster).workingSetBytes
                properties.video = ImageProperties.Video(
                    duration: reader.track.duration, codec: reader.track.codec, frameRate: reader.track.frameRate,
                    hasAudio: reader.track.hasAudio)
                return properties
            }
        }

        /// The poster, at the size of the context's hint.
        ///
        /// Looks at the cancellation flag and the clock between packets, and whenever libav reads.
        public func decode(_ data: Data) throws -> ImageContainer {
            try context.cancellation.check()
            return try memory.state.withLock { state in
                let source = VideoSource(data)
                return try Self.translating {
                    let reader = try self.reader(of: source, &state)
                    state.opened = nil
                    return try container(reader, source, data: data)
                }
            }
        }

        /// The poster, which is the final image, once all that it needs has come; until then nil.
        ///
        /// Throws `needsRange` where that is far behind what has come, or the index is at the end of the file.
        public func decodePartiallyDownloadedData(_ data: Data) throws -> ImageContainer? {
            try context.cancellation.check()
            return try memory.state.withLock { state in
                guard try state.download.isWorthTrying(data, type, context) else { return nil }
                let source = state.download.source(data, context)
                do {
                    let reader = try self.reader(of: source, &state)
                    state.opened = nil
                    return try container(reader, source, data: nil)
                } catch let missing as VideoReader.Missing {
                    try state.download.note(missing, source)
                    return nil
                }
            }
        }

        /// A reader of the data: the one that `properties` has made, if that is of the same data.
        private func reader(of source: VideoSource, _ state: inout State) throws -> VideoReader {
            let watch = DecodingWatch(context, codec: Self.codec)
            if let opened = state.opened, opened.byteCount == source.arrived, source.ranges.isEmpty {
                opened.reader.watch = watch
                return opened.reader
            }
            let choice = VideoReader.Choice(
                container: VideoSniffer.container(of: type), pixelCount: context.limits.pixelCount,
                takesCutPictures: context.truncationPolicy == .lenient)
            let reader = try VideoReader(source, choice, library: library, watch: watch, codec: Self.codec)
            state.opened = source.ranges.isEmpty ? (source.arrived, reader) : nil
            return reader
        }

        /// Bytes that have not come are, in the end, bytes that are not there.
        private static func translating<Result>(_ body: () throws -> Result) throws -> Result {
            do {
                return try body()
            } catch is VideoReader.Missing {
                throw ImageDecodingError.truncated("the data ends before a picture does", codec: codec)
            }
        }

        private func container(_ reader: VideoReader, _ source: VideoSource, data: Data?) throws -> ImageContainer {
            let rendering = VideoRendering(reader.track, context, poster)
            try rendering.check(context.limits)
            let (image, size) = try rendering.poster(reader, source)
            var container = try context.makeContainer(image: image, type: type, originalSize: size)
            container.data = data
            let video = VideoFrames.video(
                of: reader.track, size: size, type: type, context: context, data: data, library: library)
            container.video = video
            container.userInfo[.videoAssetKey] = video
            return container
        }
    }
}
