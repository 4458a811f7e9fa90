public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageDecoders {
    /// Decodes HEIC and AVIF files to upright premultiplied RGBA of 8 bits a sample: the primary picture, or its thumbnail.
    ///
    /// The container's cropping, turning and mirroring are part of the picture, and applied once; what EXIF data says of the
    /// orientation counts for nothing. Other pictures of the file, such as depth and gain maps, are left alone, and of a
    /// sequence the still picture is decoded. Samples of more bits are rounded to 8 after their conversion to RGB. The embedded
    /// ICC profile becomes the bitmap's colour space, else the one that the code points of H.273 name; of PQ and HLG, whose
    /// code values are kept, that is one which takes them to the range of sRGB.
    ///
    /// The library can't be stopped: cancellation and the time limit are looked at before and after it works on the pixels
    /// and at every 64th row of what follows.
    public struct HEIF: ImageDecoding {
        private let context: ImageDecodingContext
        private let library: HEIFLibrary
        private let type: AssetType

        /// Creates the decoder of one load; the brands of the context's data tell which of the two formats it is.
        public init(context: ImageDecodingContext) { self.init(context: context, library: .shared) }

        init(context: ImageDecodingContext, library: HEIFLibrary) {
            self.context = context
            self.library = library
            let answer = HEIFBrand.answer(for: context.data, isComplete: context.isCompleted)
            type = answer == .type(.avif) ? .avif : .heic
        }

        private var codec: String { type == .avif ? "AVIF" : "HEIC" }

        /// What the container tells.
        ///
        /// Throws if the data is not such a file, ends before the pixels do, or libheif is missing.
        public func properties(of data: Data) throws(ImageDecodingError) -> ImageProperties? {
            let reader = try open(data.bytes)
            let picture = reader.picture
            guard picture.width > 0, picture.height > 0 else {
                throw .corruptData("the header declares \(picture.width)x\(picture.height) pixels", codec: codec)
            }
            var properties = ImageProperties(
                type: type, storedWidth: picture.width, storedHeight: picture.height, hasAlpha: picture.hasAlpha,
                bitDepth: picture.bitDepth, colorModel: picture.isGray ? .gray : .rgb,
                hasICCProfile: picture.profileCount > 0)
            properties.hasEmbeddedThumbnail = picture.thumbnailCount > 0
            properties.workingSetBytes = HEIFRendering(picture, context).workingSetBytes
            return properties
        }

        /// The picture, at a size of at least twice the context's hint.
        ///
        /// Where the request prefers it, the embedded thumbnail, if there is one that decodes.
        public func decode(_ data: Data) throws(ImageDecodingError) -> ImageContainer {
            try context.cancellation.check()
            let bytes = data.bytes
            if context.prefersEmbeddedThumbnail, let thumbnail = try thumbnail(bytes) { return thumbnail }
            return try image(try open(bytes), isThumbnail: false)
        }

        /// A preview: the embedded thumbnail, where that is the policy and the file has one; else nil.
        ///
        /// Asks for the thumbnail's bytes where they lie further on.
        public func decodePartiallyDownloadedData(_ data: Data) throws(ImageDecodingError) -> ImageContainer? {
            try context.cancellation.check()
            guard context.previewPolicy == .thumbnail, let parts = HEIFContainer(data.bytes),
                let range = parts.thumbnailRange, parts.end <= context.limits.workingSetBytes
            else { return nil }
            guard range.upperBound <= data.count else { throw .needsRange(range, codec: codec) }
            // libheif reads no file whose items end beyond it; what is not there is not looked at.
            var whole = Data(count: max(parts.end, data.count))
            whole.replaceSubrange(0..<data.count, with: data)
            guard let size = try properties(of: whole)?.size, var preview = try thumbnail(whole.bytes) else {
                return nil
            }
            preview.isPreview = true
            preview.originalSize = size
            return preview
        }

        @_lifetime(copy bytes)
        private func open(_ bytes: RawSpan) throws(ImageDecodingError) -> HEIFReader {
            try HEIFReader(bytes, limits: context.limits, library: library, codec: codec)
        }

        /// The embedded thumbnail; nil if there is none that decodes.
        private func thumbnail(_ bytes: RawSpan) throws(ImageDecodingError) -> ImageContainer? {
            var reader = try open(bytes)
            guard reader.picture.thumbnailCount > 0 else { return nil }
            do throws(ImageDecodingError) {
                try reader.selectThumbnail()
                return try image(reader, isThumbnail: true)
            } catch {
                if error.code == .cancelled || error.code == .missingCodec { throw error }
                return nil
            }
        }

        private func image(
            _ reader: borrowing HEIFReader, isThumbnail: Bool
        ) throws(ImageDecodingError) -> ImageContainer {
            let picture = reader.picture
            try HEIFRendering(picture, context).check(context.limits, codec: codec)
            let watch = DecodingWatch(context, codec: codec)
            let (width, height, coding) = try reader.decode(type)
            let rendering = HEIFRendering(width: width, height: height, picture, context)
            let pixels = try rendering.pixels(from: reader, watch: watch)
            let profile = reader.profile(limit: context.limits.metadataBytes)
            let space = profile.flatMap { ColorSpace(iccProfile: $0, for: .rgba8) }
            var container = try context.makeContainer(
                image: pixels.freeze(isOpaque: !picture.hasAlpha, colorSpace: space ?? coding.colorSpace), type: type,
                originalSize: ImageSize(width: width, height: height), isEmbeddedThumbnail: isThumbnail)
            if context.request.options.contains(.preserveMetadata) {
                try context.attachMetadata(exif: reader.exif(), to: &container)
            }
            return container
        }
    }
}
