#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageDecoders {
    /// Decodes nothing: makes a blank image with the data attached, for formats that something else will render.
    public struct Empty: ImageDecoding {
        private let assetType: AssetType?

        /// Whether partial data makes previews, with what has come attached; false by default.
        public let isProgressive: Bool

        /// Creates a decoder that says its data is of this type.
        public init(assetType: AssetType? = nil, isProgressive: Bool = false) {
            self.assetType = assetType
            self.isProgressive = isProgressive
        }

        /// False: there is nothing to do.
        public var isAsynchronous: Bool { false }

        /// A blank image with the data.
        public func decode(_ data: Data) throws -> ImageContainer {
            ImageContainer(image: .blank, type: assetType, data: data)
        }

        /// A blank preview with the data so far; nil unless progressive.
        public func decodePartiallyDownloadedData(_ data: Data) throws -> ImageContainer? {
            isProgressive ? ImageContainer(image: .blank, type: assetType, isPreview: true, data: data) : nil
        }
    }
}
