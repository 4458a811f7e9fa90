public import FoundationEssentials
public import NukeCore

/// Writes an EXIF orientation into JPEG files, for tests and demonstrations.
public enum EXIF {
    /// The JPEG with an APP1 segment behind its start that names an orientation (EXIF 2.32, 4.5 and 4.6.4).
    public static func adding(_ orientation: ImageOrientation, to jpeg: Data) -> Data {
        // "Exif", a big-endian TIFF header, one directory with one entry: tag 0x0112, SHORT, one value.
        var body = Array("Exif\0\0MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1]
        body += [0, UInt8(orientation.rawValue), 0, 0, 0, 0, 0, 0]
        let length = body.count + 2
        return jpeg.prefix(2) + [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + body + jpeg.dropFirst(2)
    }
}
