#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageEncoders {
    /// Encodes images as one type, by the encoder registered for it.
    ///
    /// Named as on Apple platforms, so that shared code compiles.
    public struct ImageIO: ImageEncoding {
        /// The type of the files.
        public let type: AssetType
        /// Quality of lossy formats, 0…1; 0.8 by default.
        public let compressionRatio: Double

        private let registry: ImageDecoderRegistry

        /// Creates an encoder; the format is looked up in `registry` with each image.
        public init(type: AssetType, compressionRatio: Double = 0.8, registry: ImageDecoderRegistry = .shared) {
            self.type = type
            self.compressionRatio = compressionRatio
            self.registry = registry
        }

        /// Whether a format that writes `type` is registered now.
        public static func isSupported(type: AssetType, in registry: ImageDecoderRegistry = .shared) -> Bool {
            registry.encodableFormat(for: type) != nil
        }

        /// The file; nil if nothing registered writes the type, or its encoder can't hold the image.
        public func encode(_ image: PlatformImage) -> Data? {
            let context = ImageEncodingContext(request: ImageRequest(url: nil), image: image)
            return try? encodedData(for: ImageContainer(image: image), context: context)
        }

        /// The file; nil if nothing registered writes the type, or its encoder can't hold the image.
        public func encode(_ container: ImageContainer, context: ImageEncodingContext) -> Data? {
            try? encodedData(for: container, context: context)
        }

        /// The file.
        ///
        /// Throws `encoderNotRegistered`, which names the product to add, or what the format's encoder throws.
        public func encodedData(
            for container: ImageContainer, context: ImageEncodingContext
        ) throws(ImageEncodingError) -> Data {
            guard let format = registry.encodableFormat(for: type) else { throw .encoderNotRegistered(for: type) }
            let options = ImageEncodingOptions(quality: compressionRatio)
            return try format.encodedData(for: container, context: context, options: options)
        }
    }
}

extension ImageEncoding where Self == ImageEncoders.ImageIO {
    /// Files of one type, by the format of the shared registry.
    public static func imageIO(type: AssetType, compressionRatio: Double = 0.8) -> ImageEncoders.ImageIO {
        ImageEncoders.ImageIO(type: type, compressionRatio: compressionRatio)
    }
}
