import FoundationEssentials
import NukeCore
import NukeDecodersJPEG
import NukeTestSupport
import Testing

/// What becomes of files that are cut short, damaged or hostile.
@Suite("JPEG damage", .timeLimit(.minutes(5)))
struct JPEGDamageTests {
    private func errorCode(
        _ data: Data, limits: ImageLimits = ImageLimits()
    ) -> ImageDecodingError.Code? {
        do throws(ImageDecodingError) {
            _ = try JPEGUnderTest.decode(data, limits: limits)
            return nil
        } catch {
            return error.code
        }
    }

    @Test(
        "A file that only lacks its end marker decodes to the same pixels",
        arguments: [
            "gen-420", "gen-444", "gen-gray", "gen-rgb", "gen-progressive", "gen-sequential-3scans", "gen-restart1b",
            "gen-arith", "gen-arith-prog",
        ])
    func withoutEnd(_ name: String) throws {
        let file = try JPEGFile(fixture: name + ".jpg")
        let whole = try JPEGUnderTest.decode(file.data).image
        #expect(try JPEGUnderTest.decode(file.dataWithoutEnd).image.byteArray == whole.byteArray)
        #expect(try JPEGUnderTest.decode(file.data.dropLast()).image.byteArray == whole.byteArray)
    }

    @Test("A baseline file cut within its scan is truncated, whole decodes before it or not [row 118]")
    func cutScan() throws {
        for name in ["gen-420.jpg", "gen-gray.jpg", "gen-restart1b.jpg", "gen-rgb.jpg"] {
            let data = try Fixture.data("jpeg/" + name)
            for cut in stride(from: data.count / 4, to: data.count - 32, by: data.count / 40) {
                _ = try JPEGUnderTest.decode(data)
                #expect(errorCode(data.prefix(cut)) == .truncated, "\(name) cut after \(cut)")
            }
        }
    }

    @Test("A progressive file cut within a scan is truncated [row 119]")
    func cutProgressiveScan() throws {
        let file = try JPEGFile(fixture: "gen-progressive.jpg")
        for (segment, end) in zip(file.segments, file.segmentEnds) where segment.marker == JPEGFile.startOfScan {
            #expect(errorCode(file.data.prefix(end - segment.tail.count / 2)) == .truncated)
        }
    }

    @Test("A progressive file cut between scans decodes to what it has")
    func cutBetweenScans() throws {
        let file = try JPEGFile(fixture: "gen-progressive.jpg")
        let whole = PixelStatistics(try JPEGUnderTest.decode(file.data).image).mean
        var count = 0
        for (segment, end) in zip(file.segments, file.segmentEnds) where segment.marker == JPEGFile.startOfScan {
            let mean = PixelStatistics(try JPEGUnderTest.decode(file.data.prefix(end)).image).mean
            #expect(zip(mean, whole).allSatisfy { abs($0 - $1) < 4 })
            count += 1
        }
        #expect(count > 5)
    }

    @Test("A file cut within the tables between scans is truncated")
    func cutTables() throws {
        let file = try JPEGFile(fixture: "gen-progressive.jpg")
        let tables = zip(file.segments, file.segmentEnds).filter { $0.0.marker == 0xC4 }
        #expect(tables.count > 2)
        for (_, end) in tables { #expect(errorCode(file.data.prefix(end - 3)) == .truncated) }
    }

    @Test("A file of one scan a component that lacks a scan is truncated")
    func lacksComponent() throws {
        var file = try JPEGFile(fixture: "gen-sequential-3scans.jpg")
        let scans = file.segments.indices.filter { file.segments[$0].marker == JPEGFile.startOfScan }
        #expect(scans.count == 3)
        file.segments.removeSubrange(scans[2]...)
        #expect(errorCode(file.dataWithoutEnd) == .truncated)
    }

    @Test("Arithmetic-coded files cut in their middle are truncated", arguments: ["gen-arith", "gen-arith-prog"])
    func cutArithmetic(_ name: String) throws {
        let data = try Fixture.data("jpeg/\(name).jpg")
        #expect(errorCode(data.prefix(data.count / 2)) == .truncated)
    }

    @Test("A file cut at any byte of its header is truncated or no JPEG at all")
    func cutHeader() throws {
        let file = try JPEGFile(fixture: "gen-420.jpg")
        let scan = try #require(file.segments.firstIndex { $0.marker == JPEGFile.startOfScan })
        for count in 0..<file.segmentEnds[scan - 1] {
            #expect(errorCode(file.data.prefix(count)) == .truncated, "cut after \(count)")
        }
    }

    @Test("Bytes that are no JPEG are corrupt")
    func noJPEG() {
        #expect(errorCode(Data("<html><body>404</body></html>".utf8)) == .corruptData)
        #expect(errorCode(Data(count: 1000)) == .corruptData)
    }

    @Test("Invalid scan parameters of a sequential file are harmless [row 118]")
    func harmlessWarning() throws {
        var file = try JPEGFile(fixture: "gen-420.jpg")
        let whole = try JPEGUnderTest.decode(file.data).image
        let scan = try #require(file.segments.firstIndex { $0.marker == JPEGFile.startOfScan })
        file.segments[scan].content[file.segments[scan].content.count - 2] = 5
        #expect(try JPEGUnderTest.decode(file.data).image.byteArray == whole.byteArray)
    }

    @Test("12 bits a sample and lossless files are unsupported")
    func unsupported() throws {
        for name in ["gen-12bit", "gen-lossless-sof3"] {
            let data = try Fixture.data("jpeg/\(name).jpg")
            #expect(errorCode(data) == .unsupported, "\(name)")
            let error = #expect(throws: ImageDecodingError.self) {
                try JPEGUnderTest.decode(data, truncationPolicy: .lenient)
            }
            #expect(error?.code == .unsupported, "\(name)")
        }
    }

    @Test(
        "Frames of lossless and hierarchical files are unsupported, whatever codes them",
        arguments: [0xC3, 0xC5, 0xC6, 0xC7, 0xC8, 0xCB, 0xCD, 0xCE, 0xCF])
    func unsupportedFrame(_ marker: Int) throws {
        var file = JPEGFile.flat([100, 120, 140])
        let frame = try #require(file.segments.firstIndex { $0.marker == 0xC0 })
        file.segments[frame].marker = UInt8(marker)
        #expect(errorCode(file.data) == .unsupported)
    }

    @Test("12 bits a sample are unsupported in extended and progressive files too, other depths are damage")
    func depths() throws {
        for marker in [UInt8(0xC0), 0xC1, 0xC2, 0xC9, 0xCA] {
            var file = JPEGFile.flat([100, 120, 140])
            let frame = try #require(file.segments.firstIndex { $0.marker == 0xC0 })
            file.segments[frame].marker = marker
            file.segments[frame].content[0] = 12
            #expect(errorCode(file.data) == .unsupported, "\(marker)")
            file.segments[frame].content[0] = 9
            #expect(errorCode(file.data) == .corruptData, "\(marker)")
        }
    }

    @Test("More scans than allowed exceed the limit [row 113]")
    func scanBomb() throws {
        var file = try JPEGFile(fixture: "gen-progressive.jpg")
        let scans = file.segments.filter { $0.marker == JPEGFile.startOfScan }.count
        var limits = ImageLimits()
        limits.scanCount = scans
        #expect(errorCode(file.data, limits: limits) == nil)
        limits.scanCount = scans - 1
        #expect(errorCode(file.data, limits: limits) == .limitExceeded)
        let last = try #require(file.segments.last { $0.marker == JPEGFile.startOfScan })
        file.segments += Array(repeating: last, count: 2000)
        #expect(errorCode(file.data) == .limitExceeded)
    }

    /// Hardly 40 KB that take minutes where nothing stops them: each scan of two bytes goes over 32,761 blocks.
    private func emptyScans(_ count: Int) throws -> Data {
        var file = JPEGFile.flat([128], isProgressive: true)
        let frame = try #require(file.segments.firstIndex { $0.marker == 0xC2 })
        // 181x181 blocks.
        file.segments[frame].content.replaceSubrange(1..<5, with: [0x05, 0xA8, 0x05, 0xA8])
        // All means are the same: four bits for each block.
        let last = file.segments.count - 1
        file.segments[last].tail = JPEGFile.coded(Array(repeating: false, count: 4 * 181 * 181))
        // One code, for a run of 2¹⁴ and more blocks of which nothing comes; fourteen bits tell how many more.
        file.segments.append(
            JPEGFile.Segment(marker: 0xC4, content: [0x10, 1] + Array(repeating: 0, count: 15) + [0xE0]))
        let run = (0..<14).reversed().map { (181 * 181 - 16_384) >> $0 & 1 == 1 }
        let scan = JPEGFile.Segment(
            marker: JPEGFile.startOfScan, content: [1, 1, 0, 1, 63, 0], tail: JPEGFile.coded([false] + run))
        file.segments += Array(repeating: scan, count: count)
        return file.data
    }

    @Test("A thousand scans with nothing in them exceed the limit, whole, in previews and reduced [row 113]")
    func emptyScanBomb() throws {
        let bomb = try emptyScans(1000)
        #expect(bomb.count < 40_000)
        #expect(errorCode(bomb) == .limitExceeded)
        let decoder = ImageDecoders.JPEG(context: JPEGUnderTest.context(bomb))
        let preview = #expect(throws: ImageDecodingError.self) {
            try decoder.decodePartiallyDownloadedData(bomb.dropLast())
        }
        #expect(preview?.code == .limitExceeded)
        let thumbnail = #expect(throws: ImageDecodingError.self) {
            try JPEGUnderTest.decode(bomb, thumbnail: .init(maxPixelSize: 20))
        }
        #expect(thumbnail?.code == .limitExceeded)
        #expect(errorCode(try emptyScans(99)) == nil)
        #expect(errorCode(try emptyScans(100)) == .limitExceeded)
    }

    @Test("A few bytes that declare 64250x64250 pixels exceed the limit [row 115]")
    func pixelBomb() throws {
        for name in ["gen-420.jpg", "gen-progressive.jpg", "gen-gray.jpg"] {
            var file = try JPEGFile(fixture: name)
            let frame = try #require(file.segments.firstIndex { (0xC0...0xC2).contains($0.marker) })
            file.segments[frame].content.replaceSubrange(1..<5, with: [0xFA, 0xFA, 0xFA, 0xFA])
            #expect(errorCode(file.data) == .limitExceeded)
            #expect(try JPEGUnderTest.properties(file.data)?.width == 64_250)
        }
    }

    @Test(
        "80,000 marker segments exceed the limit, of whatever kind [row 116]", arguments: [0xE0, 0xE1, 0xE5, 0xFE])
    func segmentBomb(_ marker: Int) throws {
        var file = try JPEGFile(fixture: "gen-8x8.jpg")
        let segment = JPEGFile.Segment(marker: UInt8(marker), content: [0])
        file.segments.insert(contentsOf: Array(repeating: segment, count: 80_000), at: 0)
        #expect(errorCode(file.data) == .limitExceeded)
        let error = #expect(throws: ImageDecodingError.self) { try JPEGUnderTest.properties(file.data) }
        #expect(error?.code == .limitExceeded)
    }

    @Test(
        "Segments of an impossible length are stepped over, and 80,000 of them exceed the limit [row 116]",
        arguments: [0xE0, 0xE1, 0xE2, 0xEE, 0xFE], [UInt8(0), 1])
    func malformedSegments(_ marker: Int, length: UInt8) throws {
        let file = try Fixture.data("jpeg/gen-8x8.jpg")
        func data(_ count: Int) -> Data {
            let segment = [0xFF, UInt8(marker), 0, length]
            let segments = Array(repeating: segment, count: count).joined()
            return file.prefix(2) + segments + file.dropFirst(2)
        }
        let whole = try JPEGUnderTest.decode(file).image
        #expect(try JPEGUnderTest.decode(data(5)).image.byteArray == whole.byteArray)
        #expect(errorCode(data(80_000)) == .limitExceeded)
    }

    @Test("Segments between scans count as those before them do [row 116]")
    func segmentsBetweenScans() throws {
        var file = try JPEGFile(fixture: "gen-progressive.jpg")
        let scan = try #require(file.segments.lastIndex { $0.marker == JPEGFile.startOfScan })
        let segment = JPEGFile.Segment(marker: 0xE1, content: [0])
        file.segments.insert(contentsOf: Array(repeating: segment, count: 80_000), at: scan)
        #expect(errorCode(file.data) == .limitExceeded)
    }

    @Test("More metadata than allowed exceeds the limit; what is not read does not count")
    func metadata() throws {
        var limits = ImageLimits()
        limits.metadataBytes = 100_000
        #expect(errorCode(try Fixture.data("jpeg/gen-icc-multichunk.jpg"), limits: limits) == .limitExceeded)
        #expect(errorCode(try Fixture.data("jpeg/gen-longcomment.jpg"), limits: limits) == nil)
    }

    @Test("The coefficients of progressive files count for the working set")
    func progressiveWorkingSet() throws {
        // 227x149 as RGBA takes 135 KB; the coefficients 115 KB more.
        var limits = ImageLimits()
        limits.workingSetBytes = 200_000
        #expect(errorCode(try Fixture.data("jpeg/gen-420.jpg"), limits: limits) == nil)
        #expect(errorCode(try Fixture.data("jpeg/gen-progressive.jpg"), limits: limits) == .limitExceeded)
        limits.workingSetBytes = 260_000
        #expect(errorCode(try Fixture.data("jpeg/gen-progressive.jpg"), limits: limits) == nil)
    }

    @Test("A decode without time left exceeds the limit", arguments: ["gen-420", "gen-progressive", "gen-o6"])
    func seconds(_ name: String) throws {
        var limits = ImageLimits()
        limits.seconds = 0
        #expect(errorCode(try Fixture.data("jpeg/\(name).jpg"), limits: limits) == .limitExceeded)
        limits.seconds = .infinity
        #expect(errorCode(try Fixture.data("jpeg/\(name).jpg"), limits: limits) == nil)
    }
}
