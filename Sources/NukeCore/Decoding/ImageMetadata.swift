#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What a file tells of its picture beside the pixels, in a form that can be written into another file.
///
/// Decoders attach it to a container if the request has the option `preserveMetadata`; encoders write what their format
/// holds of it. It may tell who took the picture, when, and where.
public struct ImageMetadata: Hashable, Sendable {
    /// EXIF data: a TIFF structure, without the `Exif` header that JPEG puts before it.
    public let exif: Data

    /// Takes EXIF data over, with or without the `Exif` header; nil if it is not a TIFF structure.
    ///
    /// Every orientation in it becomes the one given, if there is any. The thumbnail goes: it shows the picture as it was
    /// before it was turned, resized or cut. Nothing else is changed, and nothing outside `exif` is read, whatever it says.
    ///
    /// - Parameters:
    ///   - exif: The data, as a file holds it (EXIF 2.32, 4.5.2).
    ///   - orientation: What the pixels that go with it are still to be turned by; up by default.
    public init?(exif: Data, orientation: ImageOrientation = .up) {
        guard let start = EXIFReader(exif.bytes)?.start else { return nil }
        var bytes = [UInt8](exif.dropFirst(start))
        EXIFReader.removeThumbnail(from: &bytes)
        EXIFReader.setOrientation(orientation, in: &bytes)
        self.exif = Data(bytes)
    }
}
