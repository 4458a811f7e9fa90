public import FoundationEssentials
public import NukeCore

/// Writes Pix files, without loss of what 8 bits a sample hold.
public struct PixEncoder: ImageEncoding {
    /// Creates an encoder.
    public init() {}

    /// The file; nil if the image is too large.
    public func encode(_ image: PlatformImage) -> Data? { try? data(of: image) }

    /// The file.
    ///
    /// Throws `unsupported` if the image is too large: a side has 16 bits.
    public func encodedData(for container: ImageContainer, context: ImageEncodingContext) throws -> Data {
        try data(of: container.image)
    }

    private func data(of original: Bitmap) throws(ImageEncodingError) -> Data {
        guard original.width <= 65_535, original.height <= 65_535 else {
            throw .unsupported("a Pix has at most 65535 pixels on a side", codec: PixHeader.codec)
        }
        guard let image = original.convertedToRGBA8() else {
            throw .failed("no memory for the pixels", codec: PixHeader.codec)
        }
        let header = PixHeader(width: image.width, height: image.height, hasAlpha: !image.isOpaque)
        var data = Data(header.bytes)
        data.reserveCapacity(header.fileSize)
        for y in stride(from: 0, to: image.height, by: PixHeader.step) {
            data += pixels(image, y, by: PixHeader.step, header)
        }
        for y in 0..<image.height { data += pixels(image, y, by: 1, header) }
        return data
    }

    /// Every so many pixels of a row.
    private func pixels(_ image: Bitmap, _ y: Int, by step: Int, _ header: PixHeader) -> [UInt8] {
        let row = image.row(y).withUnsafeBytes { Array($0) }
        return stride(from: 0, to: image.width, by: step).flatMap { x in row[x * 4..<x * 4 + header.pixelSize] }
    }
}
