#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension ImageDecoderRegistry {
    /// The registered format of a type, if it can be written.
    func encodableFormat(for type: AssetType) -> ImageFormat? {
        format(for: type).flatMap { $0.makeEncoder == nil ? nil : $0 }
    }
}

extension ImageFormat {
    /// The bytes of a file of this format.
    func encodedData(
        for container: ImageContainer, context: ImageEncodingContext, options: ImageEncodingOptions
    ) throws(ImageEncodingError) -> Data {
        guard let encoder = makeEncoder?(options) else {
            throw .unsupported("no encoder for these options", codec: name)
        }
        let data: Data
        do {
            data = try encoder.encodedData(for: container, context: context)
        } catch {
            throw error as? ImageEncodingError ?? .failed("\(error)", codec: name)
        }
        guard !data.isEmpty else { throw .failed("the encoder gave no data", codec: name) }
        return data
    }
}

extension ImageEncodingError {
    /// No format that writes `type` is registered; the reason names the product to add, where this package has one.
    static func encoderNotRegistered(for type: AssetType) -> Self {
        let remedy = type.encoderProduct.map { "; add the product \($0) and register its format" } ?? ""
        return .encoderNotRegistered("no encoder is registered for \(type.rawValue)\(remedy)")
    }
}
