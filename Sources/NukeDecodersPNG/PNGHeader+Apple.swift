internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PNGHeader {
    /// A file of Apple's kind with the chunks of a standard one; its pixels stay as they are: premultiplied, blue first.
    ///
    /// Its stream is deflated without the two bytes that zlib begins with and the four of the checksum at the end. Throws if
    /// a chunk of pixels has a wrong checksum, or the data ends before they do.
    func standardFile(from bytes: RawSpan) throws(ImageDecodingError) -> Data {
        let codec = ImageDecoders.PNG.codec
        var file = Data(Self.signature)
        file.reserveCapacity(bytes.byteCount + 32)
        file.append(bytes.extracting(end - 25..<end))
        for chunk in [palette, transparency].compactMap({ $0 }) { file.append(bytes.extracting(chunk)) }
        // A window of 32 KB, no dictionary (RFC 1950, 2.2).
        var head = Data([0x78, 0x01])
        var place = end
        while let chunk = PNGChunk(at: place, in: bytes), chunk.kind != .end {
            place = chunk.end
            guard chunk.kind == .picture else { continue }
            guard chunk.isIntact(in: bytes) else {
                throw .corruptData("a chunk of pixels has a wrong checksum", codec: codec)
            }
            if !head.isEmpty { file.append(chunk: .picture, head.bytes) }
            head = Data()
            file.append(chunk: .picture, bytes.extracting(chunk.start..<chunk.start + chunk.count))
        }
        guard let last = PNGChunk(at: place, in: bytes), last.kind == .end else {
            throw .truncated("the data ends before the picture does", codec: codec)
        }
        file.append(chunk: .picture, Data(count: 4).bytes)
        file.append(chunk: .end, RawSpan())
        return file
    }
}

extension Data {
    mutating func append(_ bytes: RawSpan) {
        // SAFETY: the bytes are copied while the span lasts.
        unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
    }

    mutating func append(bigEndian number: UInt32) {
        for shift in [24, 16, 8, 0] { append(UInt8(truncatingIfNeeded: number >> UInt32(shift))) }
    }

    mutating func append(chunk kind: PNGChunk.Kind, _ contents: RawSpan) {
        append(bigEndian: UInt32(contents.byteCount))
        let start = count
        append(bigEndian: kind.rawValue)
        append(contents)
        var checksum = PNGChecksum()
        checksum.add(bytes.extracting(start..<count))
        append(bigEndian: checksum.value)
    }
}
