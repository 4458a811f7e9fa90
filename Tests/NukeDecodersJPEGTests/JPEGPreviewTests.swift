import FoundationEssentials
import NukeDecodersJPEG
import NukeTestSupport
import Testing

@testable import NukeCore

/// Previews of progressive files, and the final image that follows them.
@Suite("JPEG previews", .timeLimit(.minutes(5)))
struct JPEGPreviewTests {
    private typealias Shown = (count: Int, container: ImageContainer)

    /// Gives a decoder prefixes of a file, and tells what it showed after how many bytes.
    private func previews(
        _ decoder: ImageDecoders.JPEG, _ data: Data, _ counts: some Sequence<Int>
    ) throws -> [Shown] {
        try counts.compactMap { count in
            try decoder.decodePartiallyDownloadedData(data.prefix(count)).map { (count, $0) }
        }
    }

    private func previews(_ context: ImageDecodingContext, step: Int = 1) throws -> [Shown] {
        let counts = stride(from: step, to: context.data.count, by: step)
        return try previews(ImageDecoders.JPEG(context: context), context.data, counts)
    }

    @Test("Each scan that is there as a whole is a preview, once the next has begun [PRG-29] [PRG-30]")
    func scans() throws {
        let file = try JPEGFile(fixture: "gen-progressive.jpg")
        let starts = zip(file.segments, file.segmentEnds).filter { $0.0.marker == JPEGFile.startOfScan }
            .map { $0.1 - $0.0.tail.count }
        let shown = try previews(JPEGUnderTest.context(file.data))
        // The header of a scan shows that the one before it has come to its end.
        #expect(shown.map(\.count) == Array(starts.dropFirst()))
        #expect(shown.map { $0.container.userInfo[.scanNumberKey] as? Int } == shown.indices.map { $0 + 1 })
        #expect(shown.allSatisfy { $0.container.isPreview && $0.container.type == .jpeg })
        #expect(shown.allSatisfy { $0.container.image.size == ImageSize(width: 227, height: 149) })
    }

    @Test(
        "The final image is that of a decode without previews, fed as it may be [PRG-28] [PRG-31]",
        arguments: [1, 700, 5000])
    func final(step: Int) throws {
        for name in ["gen-progressive", "gen-progressive-98scans", "gen-420", "gen-o6", "gen-sequential-3scans"] {
            let data = try Fixture.data("jpeg/\(name).jpg")
            let decoder = ImageDecoders.JPEG(context: JPEGUnderTest.context(data))
            let shown = try previews(decoder, data, stride(from: step, to: data.count, by: step))
            let container = try decoder.decode(data)
            #expect(container.image.byteArray == (try JPEGUnderTest.decode(data)).image.byteArray, "\(name)")
            #expect(!container.isPreview)
            #expect(container.userInfo[.scanNumberKey] as? Int == (shown.isEmpty ? nil : shown.count), "\(name)")
            #expect(try decoder.decodePartiallyDownloadedData(data) == nil)
            #expect(try decoder.decode(data).image.byteArray == container.image.byteArray)
        }
    }

    @Test("The final decode goes on where previews ended: it does not read again what they read")
    func reuse() throws {
        let data = try Fixture.data("jpeg/gen-progressive.jpg")
        let decoder = ImageDecoders.JPEG(context: JPEGUnderTest.context(data))
        let shown = try previews(decoder, data, [data.count - 1])
        #expect(shown.count == 1)
        // What has been read may be anything by now.
        let rest = Data(count: 3000) + data.dropFirst(3000)
        #expect(try decoder.decode(rest).image.byteArray == JPEGUnderTest.decode(data).image.byteArray)
    }

    @Test("Previews come nearer to the picture, scan by scan")
    func quality() throws {
        let data = try Fixture.data("jpeg/gen-progressive.jpg")
        let whole = try JPEGUnderTest.decode(data).image.byteArray
        let distances = try previews(JPEGUnderTest.context(data)).map { shown in
            zip(shown.container.image.byteArray, whole).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        }
        #expect(distances.count > 5 && zip(distances, distances.dropFirst()).allSatisfy { $0 > $1 })
        #expect(distances[0] < whole.count * 12)
    }

    @Test(
        "Files that are not progressive have no previews [PRG-34]",
        arguments: ["gen-420", "gen-sequential-3scans", "gen-gray"])
    func baseline(_ name: String) throws {
        #expect(try previews(JPEGUnderTest.context(Fixture.data("jpeg/\(name).jpg")), step: 50).isEmpty)
    }

    @Test("Files that can't be decoded piece by piece have no previews, and decode")
    func arithmetic() throws {
        let data = try Fixture.data("jpeg/gen-arith-prog.jpg")
        let decoder = ImageDecoders.JPEG(context: JPEGUnderTest.context(data))
        #expect(try previews(decoder, data, stride(from: 100, to: data.count, by: 100)).isEmpty)
        #expect(try decoder.decode(data).image.byteArray == JPEGUnderTest.decode(data).image.byteArray)
    }

    @Test("There is no preview before every component has a scan")
    func components() throws {
        let file = JPEGFile.flat([200, 90, 150, 40], isProgressive: true)
        var longer = file
        let last = try #require(file.segments.last)
        longer.segments.append(JPEGFile.Segment(marker: last.marker, content: [1, 1, 0, 1, 63, 0], tail: [0]))
        let shown = try previews(JPEGUnderTest.context(longer.data))
        #expect(shown.map(\.count) == [longer.data.count - 3])
        let pixels = shown.map { $0.container.image.pixel(1, 1) }
        #expect(pixels == [try JPEGUnderTest.decode(file.data).image.pixel(1, 1)])
    }

    @Test("A scan that is cut short by the next one is not shown for a whole one")
    func cutScan() throws {
        var file = try JPEGFile(fixture: "gen-progressive.jpg")
        let scans = file.segments.indices.filter { file.segments[$0].marker == JPEGFile.startOfScan }
        file.segments[scans[0]].tail.removeLast(file.segments[scans[0]].tail.count / 2)
        #expect(try previews(JPEGUnderTest.context(file.data), step: 20).isEmpty)
        file = try JPEGFile(fixture: "gen-progressive.jpg")
        file.segments[scans[4]].tail.removeLast(file.segments[scans[4]].tail.count / 2)
        #expect(try previews(JPEGUnderTest.context(file.data)).count == scans.count - 2)
    }

    @Test("Previews have the hinted size, the orientation and the scale of the final image [PRG-39]")
    func reduced() throws {
        var file = try JPEGFile(
            #require(ImageEncoders.JPEG(options: options).encode(Picture.gradient(width: 640, height: 480))))
        file.segments.insert(JPEGFile.exif(JPEGFile.tiff(isBigEndian: true, entries: [(0x0112, 3, 1, 6)])), at: 0)
        var context = JPEGUnderTest.context(file.data)
        context.hintingProcessor = ImageProcessors.Resize(width: 60)
        context.request.scale = 3
        let decoder = ImageDecoders.JPEG(context: context)
        let shown = try previews(decoder, file.data, stride(from: 400, to: file.data.count, by: 400))
        let final = try decoder.decode(file.data)
        #expect(!shown.isEmpty && final.image.size == ImageSize(width: 120, height: 160))
        for container in shown.map(\.container) {
            #expect(container.image.size == final.image.size && container.image.scale == 3)
            #expect(container.originalSize == ImageSize(width: 480, height: 640))
            let means = zip(PixelStatistics(container.image).quadrantMeans, PixelStatistics(final.image).quadrantMeans)
            #expect(means.allSatisfy { zip($0, $1).allSatisfy { abs($0 - $1) < 12 } })
        }
        context.hintingProcessor = nil
        context.request.thumbnail = .init(maxPixelSize: 32)
        #expect(try previews(context, step: 400).allSatisfy { $0.container.image.height == 32 })
    }

    private var options: ImageEncodingOptions {
        var options = ImageEncodingOptions()
        options.isProgressive = true
        return options
    }

    /// A progressive file behind 140 KB of metadata in three segments.
    private func largeHeaderFile() throws -> JPEGFile {
        var file = try JPEGFile(fixture: "gen-progressive.jpg")
        let segment = JPEGFile.Segment(marker: JPEGFile.app1, content: Array(repeating: 7, count: 48_000))
        file.segments.insert(contentsOf: [segment, segment, segment], at: 0)
        return file
    }

    @Test("Behind 140 KB of metadata in many segments there are previews [row 121] [PRG-35]", arguments: [300, 16_384])
    func largeHeader(step: Int) throws {
        let file = try largeHeaderFile()
        // The last piece but one of 16 KB ends within the scans.
        let end = file.data.count - file.data.count % step
        let shown = try previews(
            ImageDecoders.JPEG(context: JPEGUnderTest.context(file.data)), file.data,
            stride(from: step, through: end, by: step))
        #expect(shown.count > (step == 300 ? 3 : 0))
    }

    @Test("A pipeline that gets 100 KB of metadata first, 16 KB at a time, shows previews, then the image [row 121]")
    func largeHeaderInPipeline() async throws {
        let noise = try Picture.make(width: 400, height: 400) { x, y in
            [37, 91, 53].map { Double((x * $0 + y * 29 + x * y * ($0 + 12)) % 256) / 255 } + [1]
        }
        var file = JPEGFile(try #require(ImageEncoders.JPEG(options: options).encode(noise)))
        let segment = JPEGFile.Segment(marker: JPEGFile.app1, content: Array(repeating: 7, count: 50_000))
        file.segments.insert(contentsOf: [segment, segment], at: 0)
        let body = file.data
        #expect(body.count > 150_000)
        let test = TestPipeline { configuration in
            let registry = ImageDecoderRegistry()
            registry.register(.jpeg)
            configuration.decoderRegistry = registry
            configuration.isProgressiveDecodingEnabled = true
            configuration.progressiveDecodingInterval = 0
        }
        let request = ImageRequest(url: URL(string: "http://example.org/large.jpg"))
        let download = await PartialDownload(test, request, body: body)
        for end in stride(from: 16_384, to: body.count, by: 16_384) {
            await download.send(upTo: end)
            if end < 100_000 { await #expect(download.previews.isEmpty) }
        }
        await waitUntil { !download.previews.isEmpty }
        let image = try await download.finish().get().image
        #expect(await download.previews.allSatisfy { $0.image.size == image.size && $0.container.isPreview })
        #expect(image.byteArray == (try JPEGUnderTest.decode(body)).image.byteArray)
    }

    @Test("With the policy for thumbnails there is one preview, or none [PRG-36] [PRG-37] [PRG-38]")
    func thumbnailPolicy() throws {
        func shown(_ name: String) throws -> [Shown] {
            var context = JPEGUnderTest.context(try Fixture.data("jpeg/\(name).jpg"))
            context.previewPolicy = .thumbnail
            return try previews(context, step: 10)
        }
        #expect(try shown("gen-420").isEmpty)
        let first = try shown("gen-progressive")
        #expect(first.count == 1 && first[0].container.image.width == 227)
        let embedded = try shown("gen-exif-thumb")
        #expect(embedded.count == 1 && embedded[0].container.isPreview)
        #expect(embedded[0].container.image.width < 227)
        #expect(embedded[0].container.originalSize == ImageSize(width: 227, height: 149))
        #expect(embedded[0].container.userInfo[.scanNumberKey] as? Int == 1)
    }

    @Test("With previews disabled there are none [PRG-33]")
    func disabled() throws {
        var context = JPEGUnderTest.context(try Fixture.data("jpeg/gen-progressive.jpg"))
        context.previewPolicy = .disabled
        #expect(try previews(context, step: 100).isEmpty)
    }

    @Test("Previews keep to the limits, and so does the final image after them", arguments: [0, 1, 2])
    func limits(_ which: Int) throws {
        let data = try Fixture.data("jpeg/gen-progressive.jpg")
        var context = JPEGUnderTest.context(data)
        switch which {
        case 0: context.limits.scanCount = 5
        case 1: context.limits.workingSetBytes = 200_000
        default: context.limits.seconds = 0
        }
        let decoder = ImageDecoders.JPEG(context: context)
        let error = #expect(throws: ImageDecodingError.self) {
            try previews(decoder, data, stride(from: 100, to: data.count, by: 100))
        }
        #expect(error?.code == .limitExceeded)
        #expect(try decoder.decodePartiallyDownloadedData(data.prefix(5000)) == nil)
        let again = #expect(throws: ImageDecodingError.self) { try decoder.decode(data) }
        #expect(again?.code == .limitExceeded)
    }

    @Test("A cancelled load has no further previews")
    func cancellation() throws {
        let data = try Fixture.data("jpeg/gen-progressive.jpg")
        var context = JPEGUnderTest.context(data)
        let flag = context.cancellation
        context.hintingProcessor = DecodeHint(size: nil) { flag.cancel() }
        let decoder = ImageDecoders.JPEG(context: context)
        // Cancelled once it has begun, so within a call.
        let error = #expect(throws: ImageDecodingError.self) {
            try decoder.decodePartiallyDownloadedData(data.prefix(4000))
        }
        #expect(error?.code == .cancelled)
    }

    @Test("Damaged bytes give an error or a preview, and never more")
    func damage() throws {
        let data = try Fixture.data("jpeg/gen-progressive.jpg")
        for place in stride(from: 2, to: data.count, by: 23) {
            var damaged = [UInt8](data)
            damaged[place] ^= 0x41
            let decoder = ImageDecoders.JPEG(context: JPEGUnderTest.context(Data(damaged)))
            do throws(ImageDecodingError) {
                for count in stride(from: 500, to: data.count, by: 500) {
                    _ = try decoder.decodePartiallyDownloadedData(Data(damaged.prefix(count)))
                }
                _ = try decoder.decode(Data(damaged))
            } catch {
                #expect(error.code != .unknown)
            }
        }
    }

    @Test("Nothing of the data is kept from one call to the next, so the sender need not copy it")
    func keepsNothing() throws {
        let data = try Fixture.data("jpeg/gen-progressive.jpg")
        let decoder = ImageDecoders.JPEG(context: JPEGUnderTest.context(Data([0xFF])))
        for count in [400, 3000, 5000] {
            let block = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 1)
            data.copyBytes(to: UnsafeMutableRawBufferPointer(start: block, count: count))
            let isFreed = Locked(false)
            do {
                let owned = Data(
                    bytesNoCopy: block, count: count,
                    deallocator: .custom { pointer, _ in
                        pointer.deallocate()
                        isFreed.withLock { $0 = true }
                    })
                _ = try decoder.decodePartiallyDownloadedData(owned)
            }
            #expect(isFreed.withLock { $0 }, "after \(count) bytes")
        }
    }
}
