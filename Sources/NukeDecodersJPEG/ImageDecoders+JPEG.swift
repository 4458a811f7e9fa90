public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageDecoders {
    /// Decodes JPEG files to upright RGBA pixels, at a reduced size where the context hints that this is enough.
    ///
    /// Pixels are in the colour space of the embedded profile, if it is one for RGB, else in sRGB. A file that is cut
    /// short within its picture is an error; one that only lacks its end is not, nor is damage that the library can
    /// cope with.
    public struct JPEG: ImageDecoding {
        private let context: ImageDecodingContext

        /// Creates the decoder of one load.
        public init(context: ImageDecodingContext) {
            self.context = context
        }

        /// What the header tells, up to the first scan.
        public func properties(of data: Data) throws(ImageDecodingError) -> ImageProperties? {
            let header = try JPEGSession(data, limits: context.limits).readHeader()
            var properties = header.properties
            let denominator = header.denominator(for: context.decodeHint(for: header.uprightSize))
            properties.workingSetBytes = header.decodedBytes(reducedBy: denominator) + header.codecBytes
            return properties
        }

        /// The picture.
        ///
        /// Looks at the context's cancellation and time limit at least every 64 rows.
        public func decode(_ data: Data) throws(ImageDecodingError) -> ImageContainer {
            try context.cancellation.check()
            let session = try JPEGSession(data, limits: context.limits)
            let header = try session.readHeader()
            switch header.colorModel {
            case .gray, .rgb: break
            case .cmyk: throw .unsupported("CMYK pictures are not decoded yet", codec: JPEGSession.codec)
            default: throw .unsupported("unknown number of colour components", codec: JPEGSession.codec)
            }
            let denominator = header.denominator(for: context.decodeHint(for: header.uprightSize))
            try check(header, denominator: denominator)
            let reader = JPEGPixelReader(header: header, denominator: denominator, context: context)
            let pixels = try reader.pixels(from: session)
            return try context.makeContainer(
                image: pixels.freeze(isOpaque: true, colorSpace: colorSpace(header)), type: .jpeg,
                originalSize: header.uprightSize)
        }

        /// The embedded profile, where it is one for the samples stored and for the pixels made of them.
        private func colorSpace(_ header: JPEGHeader) -> ColorSpace {
            // Gray files come as RGBA, for which a profile of gray says nothing; one of RGB is wrong in such a file.
            guard header.colorModel == .rgb, let profile = header.iccProfile else { return .sRGB }
            return ColorSpace(iccProfile: profile, for: .rgba8) ?? .sRGB
        }

        /// Checks the limits: the whole picture counts for its sides and pixels, the reduced one for the memory.
        private func check(_ header: JPEGHeader, denominator: Int) throws(ImageDecodingError) {
            try context.limits.check(
                width: header.width, height: header.height, decodedBytes: header.decodedBytes(reducedBy: denominator),
                codecBytes: header.codecBytes, codec: JPEGSession.codec)
        }
    }
}
