public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageDecoders {
    /// Decodes WebP, lossy, lossless and animated, to upright premultiplied RGBA of 8 bits a sample.
    ///
    /// A matching ICC profile becomes the colour space; the orientation in EXIF data is applied. Smaller versions are made
    /// by libwebp's own scaler while it decodes, but for lossy pictures with alpha. Still pictures have previews, from the
    /// top down. Animations have a poster, their first frame, and all frames on demand. A file that is cut short within its
    /// picture, or of which a frame is lacking, is an error, unless the context's policy is lenient.
    public struct WebP: ImageDecoding {
        static let codec = "WebP"

        /// What has become of the previews.
        private enum State {
            case noneYet
            case underWay(WebPDecode)
            /// There won't be any more.
            case over
        }

        // Calls may come from any thread; the library's decoder bears one at a time.
        private final class Previews: Sendable {
            let state = Lock(State.noneYet)
        }

        private let context: ImageDecodingContext
        private let previews = Previews()

        /// Creates the decoder of one load.
        public init(context: ImageDecodingContext) { self.context = context }

        /// What the header tells; works without libwebp.
        ///
        /// Throws if the data is no WebP, is damaged outside its pixels, or ends before a picture begins.
        public func properties(of data: Data) throws(ImageDecodingError) -> ImageProperties? {
            try WebPDecode(context).properties(of: data)
        }

        /// The picture, of data that begins with what previews were made of; goes on where they ended.
        ///
        /// Looks at the cancellation flag and the clock about every 32 rows of a lossy picture and 64 of a lossless one, of
        /// which the library decodes the first eighth in one go.
        public func decode(_ data: Data) throws(ImageDecodingError) -> ImageContainer {
            try context.cancellation.check()
            return try previews.state.withLock { state throws(ImageDecodingError) in
                let previous = state
                state = .over
                if case .underWay(let decode) = previous { return try decode.image(of: data) }
                return try WebPDecode(context).image(of: data)
            }
        }

        /// A preview of a still picture whenever another eighth of its rows is there, of an animation its first frame; or nil.
        ///
        /// Rows that are not there yet are transparent. Where the file says that it has EXIF data there are none before that
        /// is read. Throws once if the data can't be decoded; nil from then on.
        public func decodePartiallyDownloadedData(_ data: Data) throws(ImageDecodingError) -> ImageContainer? {
            try context.cancellation.check()
            return try previews.state.withLock { state throws(ImageDecodingError) in
                let decode: WebPDecode
                switch state {
                case .noneYet: decode = WebPDecode(context)
                case .underWay(let existing): decode = existing
                case .over: return nil
                }
                state = .over
                let preview = try decode.preview(of: data)
                state = .underWay(decode)
                return preview
            }
        }
    }
}
