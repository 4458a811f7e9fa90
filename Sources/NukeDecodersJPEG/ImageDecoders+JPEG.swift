public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageDecoders {
    /// Decodes JPEG files to upright RGBA pixels, at a reduced size where the context hints that this is enough.
    ///
    /// Pixels are in the colour space of the embedded profile, if it is one for RGB, else in sRGB; CMYK becomes sRGB by the
    /// embedded profile where the context has a converter for it, else by the plain formula; the container says which. Progressive files have previews, scan by scan, at the size of the final
    /// image. A file that is cut short within its picture is an error, unless the context's policy is lenient; one that
    /// only lacks its end is not, nor is damage that the library can cope with.
    public struct JPEG: ImageDecoding {
        /// What has become of the previews.
        private enum State {
            case noneYet
            case underWay(JPEGDecode)
            /// There won't be any more.
            case over
        }

        private final class Previews: Sendable {
            let state = Lock(State.noneYet)
        }

        private let context: ImageDecodingContext
        private let previews = Previews()

        /// Creates the decoder of one load.
        public init(context: ImageDecodingContext) {
            self.context = context
        }

        /// What the header tells, up to the first scan.
        public func properties(of data: Data) throws(ImageDecodingError) -> ImageProperties? {
            try JPEGDecode(context).properties(of: data)
        }

        /// The picture, of data that begins with what previews were made of; goes on where they ended.
        ///
        /// Looks at the context's cancellation and time limit at least every 64 rows.
        public func decode(_ data: Data) throws(ImageDecodingError) -> ImageContainer {
            try context.cancellation.check()
            return try previews.state.withLock { state throws(ImageDecodingError) in
                let previous = state
                state = .over
                if case .underWay(let decode) = previous { return try decode.image(of: data) }
                return try JPEGDecode(context).image(of: data)
            }
        }

        /// A preview of a progressive file, if another of its scans is there as a whole; else nil.
        ///
        /// With the policy `thumbnail`, one preview: the embedded thumbnail, or else the first scan. The count of previews
        /// is in `userInfo`, under `scanNumberKey`. Throws once if the data can't be decoded; nil from then on.
        public func decodePartiallyDownloadedData(_ data: Data) throws(ImageDecodingError) -> ImageContainer? {
            try context.cancellation.check()
            return try previews.state.withLock { state throws(ImageDecodingError) in
                let decode: JPEGDecode
                switch state {
                case .noneYet: decode = try JPEGDecode(context)
                case .underWay(let existing): decode = existing
                case .over: return nil
                }
                state = .over
                do throws(ImageDecodingError) {
                    let preview = try decode.preview(of: data)
                    state = .underWay(decode)
                    return preview
                } catch {
                    // Arithmetic-coded files can't be decoded piece by piece.
                    if error.code == .unsupported { return nil }
                    throw error
                }
            }
        }
    }
}
