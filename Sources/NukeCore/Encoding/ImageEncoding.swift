#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// An encoder: turns an image into the bytes of a file.
public protocol ImageEncoding: Sendable {
    /// The bytes of a file with this image; nil if this encoder can't make one.
    func encode(_ image: PlatformImage) -> Data?

    /// The bytes of a file with this container's image, and whatever else of it the format holds; nil if it can't be done.
    func encode(_ container: ImageContainer, context: ImageEncodingContext) -> Data?

    /// The bytes of a file, or the reason why there is none: what the pipeline calls.
    func encodedData(for container: ImageContainer, context: ImageEncodingContext) throws -> Data
}

extension ImageEncoding {
    /// Encodes the container's image.
    public func encode(_ container: ImageContainer, context: ImageEncodingContext) -> Data? {
        encode(container.image)
    }

    /// What `encode(_:context:)` gives, with an error in place of nil.
    public func encodedData(for container: ImageContainer, context: ImageEncodingContext) throws -> Data {
        guard let data = encode(container, context: context), !data.isEmpty else {
            throw ImageEncodingError.unsupported("the encoder gave no data", codec: "")
        }
        return data
    }
}

/// What an encoder is told beside the image.
public struct ImageEncodingContext: Sendable {
    /// The request that the image was loaded for.
    public var request: ImageRequest
    /// The image to encode.
    public var image: PlatformImage
    /// The response that brought it, if there was one.
    public var dataResponse: DataResponse?

    /// Creates a context.
    public init(request: ImageRequest, image: PlatformImage, dataResponse: DataResponse? = nil) {
        self.request = request
        self.image = image
        self.dataResponse = dataResponse
    }
}

/// How to encode.
public struct ImageEncodingOptions: Hashable, Sendable {
    /// How chroma is stored by formats that separate it from luma.
    public enum ChromaSubsampling: Hashable, Sendable {
        /// At half the width and half the height: 4:2:0.
        case half
        /// At the full size: 4:4:4.
        case none
    }

    /// Quality of lossy formats, 0…1; 0.8 by default.
    public var quality: Double
    /// How chroma is stored; 4:2:0 by default.
    public var chromaSubsampling: ChromaSubsampling

    /// Whether the file shows a rough picture early, for formats that have such a way; false by default.
    public var isProgressive: Bool

    /// Creates options.
    public init(
        quality: Double = 0.8, chromaSubsampling: ChromaSubsampling = .half, isProgressive: Bool = false
    ) {
        self.quality = quality
        self.chromaSubsampling = chromaSubsampling
        self.isProgressive = isProgressive
    }
}

/// The encoders that come with the package; each product adds its own.
public enum ImageEncoders {}
