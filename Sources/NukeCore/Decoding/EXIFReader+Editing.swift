#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Changes in place: nothing outside the bytes is written, whatever they say.
extension EXIFReader {
    /// Writes an orientation into every entry of the first directory that is for one, of whatever type.
    static func setOrientation(_ orientation: ImageOrientation, in bytes: inout [UInt8]) {
        // SAFETY: the bytes read are those of integers of one byte.
        guard let reader = EXIFReader(unsafe bytes.span.bytes),
            let directory = reader.pictureDirectory(in: unsafe bytes.span.bytes),
            let count = reader.integer(2, at: directory, in: unsafe bytes.span.bytes)
        else { return }
        for index in 0..<count {
            let entry = directory + 2 + index * 12
            guard let tag = reader.integer(2, at: entry, in: unsafe bytes.span.bytes) else { return }
            guard tag == 0x0112 else { continue }
            // A SHORT (TIFF 6.0, section 2), one value, the value and what fills its field up.
            reader.write(3, size: 2, at: entry + 2, in: &bytes)
            reader.write(1, size: 4, at: entry + 4, in: &bytes)
            reader.write(orientation.rawValue, size: 2, at: entry + 8, in: &bytes)
            reader.write(0, size: 2, at: entry + 10, in: &bytes)
        }
    }

    /// Cuts off the second directory, which describes the thumbnail, and the thumbnail itself.
    ///
    /// A thumbnail that stands last is removed, one between other data overwritten with zeros, so that nothing moves.
    static func removeThumbnail(from bytes: inout [UInt8]) {
        // SAFETY: the bytes read are those of integers of one byte.
        guard let reader = EXIFReader(unsafe bytes.span.bytes) else { return }
        let thumbnail = EXIFThumbnail.range(in: unsafe bytes.span.bytes)
        guard let directory = reader.pictureDirectory(in: unsafe bytes.span.bytes),
            let count = reader.integer(2, at: directory, in: unsafe bytes.span.bytes)
        else { return }
        reader.write(0, size: 4, at: directory + 2 + count * 12, in: &bytes)
        guard let thumbnail else { return }
        // What claims to lie in the header leaves that alone.
        let range = max(thumbnail.lowerBound, 8)..<max(thumbnail.upperBound, 8)
        if range.upperBound == bytes.count {
            bytes.removeSubrange(range)
        } else {
            bytes.replaceSubrange(range, with: repeatElement(0, count: range.count))
        }
    }

    /// Writes an unsigned integer of `size` bytes; does nothing unless they all lie within the data.
    private func write(_ value: Int, size: Int, at offset: Int, in bytes: inout [UInt8]) {
        guard offset >= 0, start + offset + size <= bytes.count else { return }
        for index in 0..<size {
            let shift = 8 * (isLittleEndian ? index : size - 1 - index)
            bytes[start + offset + index] = UInt8(truncatingIfNeeded: value >> shift)
        }
    }
}
