#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageEncoders {
    /// Encodes with what is registered: opaque images as JPEG, others as PNG, unless another type is preferred.
    ///
    /// An image counts as opaque if its bitmap says so, whatever its pixels are. Where JPEG can't be written, opaque images
    /// become PNG. A GIF is never encoded anew: its own data is the result, and without that there is none. Only where it is an
    /// animation, and a format that is preferred holds animations, that is the result.
    public struct Default: ImageEncoding {
        /// Quality of lossy formats, 0…1; 0.8 by default.
        public var compressionQuality: Double
        /// The type to write where it is registered with an encoder and can hold the image; nil by default.
        public var preferredType: AssetType?

        private let registry: ImageDecoderRegistry

        /// Creates an encoder; formats are looked up in `registry` with each image.
        public init(
            compressionQuality: Double = 0.8, preferredType: AssetType? = nil,
            registry: ImageDecoderRegistry = .shared
        ) {
            self.compressionQuality = compressionQuality
            self.preferredType = preferredType
            self.registry = registry
        }

        /// Whether HEIC is the preferred type.
        public var isHEIFPreferred: Bool {
            get { preferredType == .heic }
            set {
                if newValue { preferredType = .heic } else if isHEIFPreferred { preferredType = nil }
            }
        }

        /// The file; nil if no registered format makes one.
        public func encode(_ image: PlatformImage) -> Data? {
            let context = ImageEncodingContext(request: ImageRequest(url: nil), image: image)
            return try? encodedData(for: ImageContainer(image: image), context: context)
        }

        /// The file, or a GIF's own data; nil if there is neither.
        public func encode(_ container: ImageContainer, context: ImageEncodingContext) -> Data? {
            try? encodedData(for: container, context: context)
        }

        /// The file, or a GIF's own data.
        ///
        /// Throws `encoderNotRegistered`, which names the product to add, or what the format's encoder throws.
        public func encodedData(
            for container: ImageContainer, context: ImageEncodingContext
        ) throws(ImageEncodingError) -> Data {
            if container.type == .gif, !isPreferredAnimation(container) {
                guard let data = container.data, !data.isEmpty else {
                    throw .unsupported("the data of the GIF was not kept, and one frame is not the whole", codec: "GIF")
                }
                return data
            }
            let options = ImageEncodingOptions(quality: compressionQuality)
            return try format(for: container.image).encodedData(for: container, context: context, options: options)
        }

        /// Whether a GIF becomes an animation of another type.
        private func isPreferredAnimation(_ container: ImageContainer) -> Bool {
            guard let preferredType, preferredType != .gif, (container.animation?.frameCount ?? 1) > 1 else {
                return false
            }
            return registry.encodableFormat(for: preferredType)?.capabilities.contains(.animationEncoding) == true
        }

        private func format(for image: Bitmap) throws(ImageEncodingError) -> ImageFormat {
            if let preferredType, let format = registry.encodableFormat(for: preferredType),
                image.isOpaque || format.capabilities.contains(.alpha)
            {
                return format
            }
            let types: [AssetType] = image.isOpaque ? [.jpeg, .png] : [.png]
            for type in types {
                if let format = registry.encodableFormat(for: type) { return format }
            }
            throw .encoderNotRegistered(for: types[0])
        }
    }
}

extension ImageEncoding where Self == ImageEncoders.Default {
    /// JPEG for opaque images, PNG for others; with the formats of the shared registry.
    public static func `default`(compressionQuality: Double = 0.8) -> ImageEncoders.Default {
        ImageEncoders.Default(compressionQuality: compressionQuality)
    }
}
