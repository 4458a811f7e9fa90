internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Writes the container around a coded picture (RFC 9649, 2.7).
enum WebPContainer {
    /// A file with a profile and EXIF data in it; the file as it is if it is not one that the library writes.
    static func adding(profile: Data?, exif: Data?, to file: Data) -> Data {
        if profile == nil, exif == nil { return file }
        let bytes = file.bytes
        guard let header = try? WebPHeader(bytes, frameLimit: 1), let picture = header.still,
            picture.isComplete(in: file.count)
        else { return file }
        let start = file.startIndex
        let pictureChunks = file[start + picture.range.lowerBound..<start + picture.range.upperBound]
        var flags: UInt8 = 0
        if profile != nil { flags |= 0x20 }
        if exif != nil { flags |= 0x08 }
        if picture.hasAlpha { flags |= 0x10 }
        var body = Self.start(flags: flags, width: header.width, height: header.height)
        if let profile { body += chunk("ICCP", profile) }
        body += pictureChunks
        if pictureChunks.count % 2 == 1 { body.append(0) }
        if let exif { body += chunk("EXIF", exif) }
        return chunk("RIFF", body)
    }

    /// What stands at the start of a file of several chunks, but for its length: its flags and the size of the canvas.
    static func start(flags: UInt8, width: Int, height: Int) -> Data {
        let sides = [width - 1, height - 1].flatMap { littleEndian($0, count: 3) }
        return Data("WEBP".utf8) + chunk("VP8X", Data([flags, 0, 0, 0] + sides))
    }

    /// A chunk with its type and length, filled up to an even one.
    static func chunk(_ type: String, _ contents: Data) -> Data {
        var chunk = Data(type.utf8) + littleEndian(contents.count, count: 4) + contents
        if contents.count % 2 == 1 { chunk.append(0) }
        return chunk
    }

    /// The lowest bytes of a number.
    static func littleEndian(_ value: Int, count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
