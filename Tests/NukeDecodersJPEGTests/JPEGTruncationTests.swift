import FoundationEssentials
import NukeCore
import NukeDecodersJPEG
import NukeTestSupport
import Testing

/// What a lenient policy keeps of files that are cut short.
@Suite("JPEG truncation, lenient", .timeLimit(.minutes(5)))
struct JPEGTruncationTests {
    private func decode(_ data: Data) throws(ImageDecodingError) -> ImageContainer {
        try JPEGUnderTest.decode(data, truncationPolicy: .lenient)
    }

    private func isTruncated(_ container: ImageContainer) -> Bool {
        container.userInfo[.isTruncatedKey] as? Bool == true
    }

    @Test("A baseline file keeps the rows that are there, and is marked [row 118]")
    func baseline() throws {
        for name in ["gen-420", "gen-444", "gen-gray", "gen-rgb", "gen-restart1b", "gen-cmyk-adobe"] {
            let data = try Fixture.data("jpeg/\(name).jpg")
            let whole = try JPEGUnderTest.decode(data).image
            let container = try decode(data.prefix(data.count * 3 / 4))
            #expect(isTruncated(container) && container.image.size == whole.size, "\(name)")
            let kept = container.image.bytesPerRow * 40
            #expect(container.image.byteArray.prefix(kept) == whole.byteArray.prefix(kept), "\(name)")
            #expect(container.image.byteArray != whole.byteArray, "\(name)")
        }
    }

    @Test("A progressive file cut in any scan, or in the tables between, gives a whole picture [row 119]")
    func progressive() throws {
        for name in ["gen-progressive", "gen-sequential-3scans", "gen-arith-prog"] {
            let file = try JPEGFile(fixture: name + ".jpg")
            let whole = PixelStatistics(try JPEGUnderTest.decode(file.data).image).mean
            let second = try #require(
                zip(file.segments, file.segmentEnds).first { $0.0.marker == JPEGFile.startOfScan }
            ).1
            for cut in stride(from: second + 5, to: file.data.count - 40, by: 37) {
                let container = try decode(file.data.prefix(cut))
                guard name != "gen-sequential-3scans" else { continue }
                let mean = PixelStatistics(container.image).mean
                #expect(zip(mean, whole).allSatisfy { abs($0 - $1) < 12 }, "\(name) cut after \(cut): \(mean)")
            }
        }
    }

    @Test("Files are marked if data is lacking in them, and only then")
    func marks() throws {
        let file = try JPEGFile(fixture: "gen-progressive.jpg")
        for (segment, end) in zip(file.segments, file.segmentEnds).dropLast() {
            guard segment.marker == JPEGFile.startOfScan else { continue }
            #expect(isTruncated(try decode(file.data.prefix(end - segment.tail.count / 2))))
            // Between scans nothing tells that another was to come.
            #expect(!isTruncated(try decode(file.data.prefix(end))))
            #expect(isTruncated(try decode(file.data.prefix(end + 7))))
        }
        for name in ["gen-420", "gen-progressive", "gen-arith", "gen-trailing-garbage"] {
            let data = try Fixture.data("jpeg/\(name).jpg")
            let container = try decode(data)
            #expect(!isTruncated(container) && container.userInfo.isEmpty, "\(name)")
            #expect(container.image.byteArray == (try JPEGUnderTest.decode(data)).image.byteArray, "\(name)")
        }
        #expect(!isTruncated(try decode(file.dataWithoutEnd)))
    }

    @Test("A file cut in its header has no picture to keep")
    func header() throws {
        let file = try JPEGFile(fixture: "gen-progressive.jpg")
        let scan = try #require(file.segments.firstIndex { $0.marker == JPEGFile.startOfScan })
        let end = file.segmentEnds[scan] - file.segments[scan].tail.count
        for count in stride(from: 0, to: end, by: 7) {
            let error = #expect(throws: ImageDecodingError.self) { try decode(file.data.prefix(count)) }
            #expect(error?.code == .truncated, "cut after \(count)")
        }
    }

    @Test("Previews, then a file that turns out to be cut: its picture is kept as without previews")
    func afterPreviews() throws {
        let data = try Fixture.data("jpeg/gen-progressive.jpg").prefix(4000)
        var context = JPEGUnderTest.context(data)
        context.truncationPolicy = .lenient
        let decoder = ImageDecoders.JPEG(context: context)
        #expect(try decoder.decodePartiallyDownloadedData(data.prefix(2500)) != nil)
        let container = try decoder.decode(data)
        #expect(isTruncated(container) && !container.isPreview)
        #expect(container.image.byteArray == (try decode(data)).image.byteArray)
    }

    @Test("A pipeline hands its policy to the decoder", arguments: [TruncationPolicy.strict, .lenient])
    func pipeline(_ policy: TruncationPolicy) async throws {
        let registry = ImageDecoderRegistry()
        registry.register(.jpeg)
        let pipeline = ImagePipeline {
            $0.decoderRegistry = registry
            $0.imageCache = nil
            $0.truncationPolicy = policy
        }
        let data = try Fixture.data("jpeg/gen-420.jpg").prefix(3000)
        let request = ImageRequest(id: "cut", data: { data })
        if policy == .lenient {
            #expect(isTruncated(try await pipeline.imageTask(with: request).response.container))
        } else {
            await #expect(throws: ImagePipeline.Error.self) { try await pipeline.image(for: request) }
        }
    }
}
