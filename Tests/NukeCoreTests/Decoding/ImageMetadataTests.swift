import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

/// Metadata that is kept: upright, without a thumbnail, and otherwise as it was; whatever the bytes say.
@Suite("Metadata", .timeLimit(.minutes(5)))
struct ImageMetadataTests {
    /// EXIF data of one directory: a text, an orientation, a pointer to GPS data; with a second one where told.
    private struct Sample {
        var isLittleEndian = false
        /// Type and count of the entry for the orientation, and how often it is there.
        var type = 3
        var count = 1
        var copies = 1
        /// The thumbnail, and what stands behind it.
        var thumbnail: [UInt8] = []
        var tail: [UInt8] = []

        var entryCount: Int { copies + 2 }
        /// Where the second directory begins.
        var next: Int { 8 + 2 + entryCount * 12 + 4 }
        /// Where the thumbnail begins.
        var start: Int { next + 2 + 2 * 12 + 4 }

        func bytes(orientation: Int) -> [UInt8] {
            let size = type == 3 ? 2 : 4
            var bytes = Array((isLittleEndian ? "II" : "MM").utf8) + number(42, 2) + number(8, 4)
            bytes += number(entryCount, 2) + entry(0x010F, 2, 4, number(0x4E55_4B45, 4))
            for _ in 0..<copies {
                bytes += entry(0x0112, type, count, number(orientation, size) + Array(repeating: 7, count: 4 - size))
            }
            bytes += entry(0x8825, 4, 1, number(next, 4)) + number(thumbnail.isEmpty ? 0 : next, 4)
            guard !thumbnail.isEmpty else { return bytes + tail }
            bytes += number(2, 2) + entry(0x0201, 4, 1, number(start, 4))
            bytes += entry(0x0202, 4, 1, number(thumbnail.count, 4)) + number(0, 4)
            return bytes + thumbnail + tail
        }

        private func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) -> [UInt8] {
            number(tag, 2) + number(type, 2) + number(count, 4) + value
        }

        private func number(_ value: Int, _ size: Int) -> [UInt8] {
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            return isLittleEndian ? bytes : bytes.reversed()
        }
    }

    private func orientation(_ data: Data) -> ImageOrientation { EXIFOrientation.read(from: data.bytes) }

    @Test(
        "the orientation becomes the one told, everything else stays, in both byte orders [row 130]",
        arguments: [true, false])
    func orientation(isLittleEndian: Bool) throws {
        let sample = Sample(isLittleEndian: isLittleEndian)
        let bytes = sample.bytes(orientation: 6)
        let upright = try #require(ImageMetadata(exif: Data(bytes)))
        #expect(orientation(upright.exif) == .up && upright.exif.count == bytes.count)
        let changed = zip(bytes, upright.exif).enumerated().filter { $0.element.0 != $0.element.1 }.map(\.offset)
        // The value of the second entry, and what fills its field up.
        #expect(Set(changed).isSubset(of: Set(30..<34)) && !changed.isEmpty, "\(changed)")
        let turned = try #require(ImageMetadata(exif: Data(bytes), orientation: .left))
        #expect(orientation(turned.exif) == .left)
        #expect(try #require(ImageMetadata(exif: upright.exif)) == upright)
    }

    @Test("the header that JPEG puts before the data is dropped; data with other indices counts too")
    func header() throws {
        let bytes = Sample().bytes(orientation: 6)
        let plain = try #require(ImageMetadata(exif: Data(bytes)))
        let prefixed = Data(Array("xyExif\0\0".utf8) + bytes).dropFirst(2)
        #expect(try #require(ImageMetadata(exif: prefixed)) == plain)
    }

    @Test(
        "every entry for an orientation is rewritten, also of types and counts that this reader passes over",
        arguments: [(4, 1), (1, 1), (9, 1), (3, 2), (2, 0), (65_535, 70_000)])
    func strangeEntries(type: Int, count: Int) throws {
        var sample = Sample(type: type, count: count, copies: 3)
        let metadata = try #require(ImageMetadata(exif: Data(sample.bytes(orientation: 8))))
        sample = Sample(copies: 3)
        let expected = sample.bytes(orientation: 1)
        for index in 0..<3 {
            let place = 22 + index * 12
            #expect(Array(metadata.exif[place..<place + 10]) == Array(expected[place..<place + 10]))
            #expect(Array(metadata.exif[place + 10..<place + 12]) == [0, 0])
        }
    }

    @Test("a thumbnail that stands last is cut off, one before other data becomes zeros, and none is told of any more")
    func thumbnail() throws {
        var sample = Sample(thumbnail: Array(repeating: 0xAB, count: 50))
        let last = try #require(ImageMetadata(exif: Data(sample.bytes(orientation: 3))))
        #expect(last.exif.count == sample.start && !last.exif.contains(0xAB))
        sample.tail = [1, 2, 3]
        let before = try #require(ImageMetadata(exif: Data(sample.bytes(orientation: 3))))
        #expect(Array(before.exif.suffix(4)) == [0, 1, 2, 3] && !before.exif.contains(0xAB))
        for metadata in [last, before] {
            #expect(EXIFThumbnail.range(in: metadata.exif.bytes) == nil && orientation(metadata.exif) == .up)
        }
    }

    @Test("what is no TIFF structure is no metadata")
    func damaged() {
        for text in ["", "Exif\0\0", "II", "XX\u{0}*\u{0}\u{0}\u{0}\u{8}", "hello, world"] {
            #expect(ImageMetadata(exif: Data(text.utf8)) == nil)
        }
    }

    @Test(
        "of any bytes: nothing else is read, the size does not grow, no orientation and no thumbnail is left [row 125]")
    func hostile() {
        var random = SeededNumbers(seed: 1)
        let sample = Sample(thumbnail: Array(repeating: 0xAB, count: 20), tail: [1, 2])
        let sound = sample.bytes(orientation: 6)
        for round in 0..<4000 {
            var bytes = sound
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                // Small numbers make offsets and counts that lie within the data.
                bytes[.random(in: 2..<bytes.count, using: &random)] =
                    round % 2 == 0 ? .random(in: 0...255, using: &random) : .random(in: 0...96, using: &random)
            }
            bytes.removeLast(round % 3 == 0 ? .random(in: 0..<bytes.count, using: &random) : 0)
            guard let metadata = ImageMetadata(exif: Data(bytes)) else { continue }
            #expect(orientation(metadata.exif) == .up && metadata.exif.count <= bytes.count, "\(bytes)")
            #expect(EXIFThumbnail.range(in: metadata.exif.bytes) == nil, "\(bytes)")
        }
    }

    // MARK: Attaching

    private func container(_ exif: [UInt8], _ configure: (inout ImageDecodingContext, inout ImageContainer) -> Void)
        throws -> ImageContainer
    {
        let request = ImageRequest(url: nil, options: [.preserveMetadata])
        var context = ImageDecodingContext(request: request, data: Data())
        var container = ImageContainer(image: .blank)
        configure(&context, &container)
        try context.attachMetadata(exif: Data(exif), to: &container)
        return container
    }

    @Test("metadata is attached where the request asks for it, with what the image is still to be turned by")
    func attaching() throws {
        let exif = Sample().bytes(orientation: 6)
        let kept = try #require(try container(exif) { _, _ in }.metadata)
        #expect(orientation(kept.exif) == .up)
        let turned = try container(exif) { $1.userInfo[.orientationKey] = ImageOrientation.right }
        #expect(orientation(try #require(turned.metadata).exif) == .right)
        #expect(try container(exif) { context, _ in context.request.options = [] }.metadata == nil)
        #expect(try container([1, 2, 3]) { _, _ in }.metadata == nil)
        #expect(try container([]) { _, _ in }.metadata == nil)
    }

    @Test("more bytes of EXIF data than metadata may have are an error")
    func limit() throws {
        let exif = Sample().bytes(orientation: 6)
        #expect(throws: ImageDecodingError.limitExceeded("", codec: "")) {
            try container(exif) { context, _ in context.limits.metadataBytes = exif.count - 1 }
        }
        #expect(try container(exif) { context, _ in context.limits.metadataBytes = exif.count }.metadata != nil)
    }

    @Test("copies of a container keep metadata apart; requests that keep it share no image with those that do not")
    func values() throws {
        let metadata = try #require(ImageMetadata(exif: Data(Sample().bytes(orientation: 1))))
        let plain = ImageContainer(image: .blank)
        var copy = plain
        copy.metadata = metadata
        var second = copy
        second.isPreview = true
        #expect(plain.metadata == nil && second.metadata == metadata)
        let url = URL(string: "https://example.com/a.jpg")
        let keys = [[], [.preserveMetadata]].map { ImageCacheKey(request: ImageRequest(url: url, options: $0)) }
        #expect(keys[0] != keys[1])
    }
}
