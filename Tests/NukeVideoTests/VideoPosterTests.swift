import FoundationEssentials
import NukeCore
import NukeTestSupport
import Testing

@testable import NukeVideo

@Suite("Video posters", .needsLibrary, .timeLimit(.minutes(5)))
struct VideoPosterTests {
    private func mean(_ name: String, _ poster: ImageRequest.VideoPoster?) throws -> [Double] {
        VideoUnderTest.mean(try VideoUnderTest.decode(try VideoUnderTest.data(name), poster: poster).image)
    }

    private static let black = [0.0, 0, 0]
    /// What comes after a second of black.
    private static let picture = [110.5, 109.3, 122.6]

    @Test("The poster is the first picture that is not black")
    func firstVisible() throws {
        let data = try VideoUnderTest.data("gen-black-first.mp4")
        let image = try VideoUnderTest.decode(data).image
        #expect(!image.isBlack && !VideoUnderTest.isNear(VideoUnderTest.mean(image), Self.black, 40))
        // The very first one after the black.
        let first = try VideoUnderTest.decode(data, poster: .time(seconds: 1.01)).image
        #expect(VideoUnderTest.isNear(VideoUnderTest.mean(image), VideoUnderTest.mean(first), 0.01))
    }

    @Test("A time, or a part of the duration, names the picture that is shown then")
    func times() throws {
        let name = "gen-black-first.mp4"
        #expect(VideoUnderTest.isNear(try mean(name, .time(seconds: 0)), Self.black, 2))
        #expect(VideoUnderTest.isNear(try mean(name, .time(seconds: 0.99)), Self.black, 2))
        #expect(VideoUnderTest.isNear(try mean(name, .time(seconds: 1.5)), Self.picture, 4))
        #expect(VideoUnderTest.isNear(try mean(name, .fraction(0.5)), Self.picture, 4))
        #expect(VideoUnderTest.isNear(try mean(name, .fraction(0.1)), Self.black, 2))
        #expect(try mean(name, .fraction(0)) == mean(name, .time(seconds: 0)))
        // Behind the end stands the last one.
        #expect(try mean(name, .time(seconds: 100)) == mean(name, .fraction(1)))
        #expect(try mean(name, .time(seconds: -1)) == mean(name, .time(seconds: 0)))
    }

    @Test("Numbers that are no times and no sizes are errors or the ends, not traps")
    func oddNumbers() throws {
        let data = try VideoUnderTest.data("gen-one-frame.mp4")
        for value in [Double.infinity, -Double.infinity, .nan, 1e300, -1e300] {
            for poster in [ImageRequest.VideoPoster.time(seconds: value), .fraction(value)] {
                _ = VideoUnderTest.error(data, poster: poster)
            }
        }
        for (columns, rows) in [(0, 1), (1, 0), (-1, 4), (1000, 1000), (.max, .max), (401, 1)] {
            #expect(VideoUnderTest.error(data, poster: .sheet(columns: columns, rows: rows))?.code == .unsupported)
        }
    }

    @Test("A sheet has pictures that are evenly spread, side by side, and is reduced as a whole")
    func sheet() throws {
        let data = try VideoUnderTest.data("gen-black-first.mp4")
        let sheet = try VideoUnderTest.decode(data, poster: .sheet(columns: 3, rows: 2)).image
        #expect(sheet.size == ImageSize(width: 480, height: 240) && sheet.isOpaque)
        // Of six pictures of 3 s the first two are within the black second.
        for (index, isBlack) in [true, true, false, false, false, false].enumerated() {
            let (column, row) = (index % 3, index / 3)
            var sum = 0
            for y in 0..<120 {
                let bytes = sheet.row(row * 120 + y)
                for x in 0..<160 {
                    sum += Int(unsafe bytes.unsafeLoad(fromByteOffset: (column * 160 + x) * 4, as: UInt8.self))
                }
            }
            #expect((sum / (160 * 120) < 5) == isBlack, "picture \(index)")
        }
        let small = try VideoUnderTest.decode(data, poster: .sheet(columns: 3, rows: 2)) {
            $0.request.thumbnail = .init(maxPixelSize: 96)
        }
        #expect(small.image.size == ImageSize(width: 96, height: 48))
        #expect(small.originalSize == ImageSize(width: 480, height: 240))
    }

    @Test("[row 202] pixels that are not square are scaled to the size at which they are shown")
    func aspect() throws {
        let data = try VideoUnderTest.data("gen-sar.mp4")
        #expect(try VideoUnderTest.decode(data).image.size == ImageSize(width: 213, height: 120))
        let track = { (aspect: (Int, Int)) in
            VideoTrack(
                codedWidth: 16, codedHeight: 16, duration: nil, frameRate: nil, aspect: aspect, orientation: .right,
                isPicture: false, hasAudio: false, codec: "")
        }
        #expect(track((2, 1)).size == ImageSize(width: 16, height: 32))
        #expect(track((1, 2)).size == ImageSize(width: 32, height: 16))
        for aspect in [(0, 1), (1, 0), (-1, 1), (1_000_000, 1), (1, 1_000_000)] {
            #expect(track(aspect).size == ImageSize(width: 16, height: 16))
        }
    }

    @Test("Display matrices are the eight orientations", arguments: ImageOrientation.allCases)
    func matrices(_ orientation: ImageOrientation) {
        let one: Int32 = 1 << 16
        let (a, b, c, d): (Int32, Int32, Int32, Int32) =
            switch orientation {
            case .up: (one, 0, 0, one)
            case .upMirrored: (-one, 0, 0, one)
            case .down: (-one, 0, 0, -one)
            case .downMirrored: (one, 0, 0, -one)
            case .leftMirrored: (0, one, one, 0)
            case .right: (0, one, -one, 0)
            case .rightMirrored: (0, -one, -one, 0)
            case .left: (0, -one, one, 0)
            }
        #expect(VideoTrack.orientation(a: a, b: b, c: c, d: d) == orientation)
        #expect(VideoTrack.orientation(a: .min, b: .min, c: .min, d: .min) == .down)
    }

    @Test("[row 205] a picture comes of a file whose blocks are all marked as key frames, or none")
    func keyFrameFlags() throws {
        let data = try VideoUnderTest.data("gen-vp9.webm")
        let whole = VideoUnderTest.mean(try VideoUnderTest.decode(data).image)
        for isKey in [true, false] {
            var bytes = [UInt8](data)
            let flags = Self.blockFlags(bytes)
            #expect(flags.count == 30)
            for place in flags { bytes[place] = isKey ? 0x80 : 0 }
            let image = try VideoUnderTest.decode(Data(bytes)).image
            #expect(VideoUnderTest.isNear(VideoUnderTest.mean(image), whole, 0.01))
            let later = try VideoUnderTest.decode(Data(bytes), poster: .time(seconds: 0.5)).image
            #expect(VideoUnderTest.isNear(VideoUnderTest.mean(later), [109.9, 109.4, 123.5], 4))
        }
    }

    /// Where the flags of the blocks of a WebM file stand: those of the elements SimpleBlock, in the clusters (RFC 9559).
    private static func blockFlags(_ bytes: [UInt8]) -> [Int] {
        var places: [Int] = []
        var place = 0
        while place < bytes.count - 12 {
            let idLength = bytes[place].leadingZeroBitCount + 1
            let id = bytes[place..<place + idLength].reduce(0) { $0 << 8 | Int($1) }
            let sizeLength = bytes[place + idLength].leadingZeroBitCount + 1
            let mark = 0xFF >> sizeLength
            let start = place + idLength + sizeLength
            let size = bytes[place + idLength + 1..<start].reduce(Int(bytes[place + idLength]) & mark) {
                $0 << 8 | Int($1)
            }
            if id == 0xA3 { places.append(start + 3) }
            // Into the segment and its clusters, past everything else.
            place = id == 0x1853_8067 || id == 0x1F43_B675 ? start : start + size
        }
        return places
    }

    @Test("[row 206] a clock of a billion ticks a second, or none, is no trap")
    func timeBases() throws {
        let data = try VideoUnderTest.data("gen-h264-moov-end.mp4")
        let name = try #require(data.firstRange(of: Data("mdhd".utf8)))
        for scale in [[0x3B, 0x9A, 0xCA, 0x00], [0, 0, 0, 0], [0, 0, 0, 1], [0xFF, 0xFF, 0xFF, 0xFF]] {
            var copy = data
            // Version and flags, two times, then the ticks a second (ISO/IEC 14496-12, 8.4.2.2).
            let place = name.upperBound + 12
            copy.replaceSubrange(place..<place + 4, with: scale.map { UInt8($0) })
            let image = try VideoUnderTest.decode(copy).image
            #expect(VideoUnderTest.isNear(VideoUnderTest.mean(image), [113.7, 107.7, 117.4], 4))
            for poster in [ImageRequest.VideoPoster.time(seconds: 0.5), .fraction(0.5), .time(seconds: 1e9)] {
                let later = try VideoUnderTest.decode(copy, poster: poster).image
                #expect(later.size == image.size)
            }
        }
    }

    @Test("The container tells of the video [VID-02]")
    func video() throws {
        let data = try VideoUnderTest.data("gen-black-first.mp4")
        let container = try VideoUnderTest.decode(data)
        let video = try #require(container.video)
        #expect(video.duration == 3 && video.codec == "h264" && video.frameRate == 15 && !video.hasAudio)
        #expect(video.size == ImageSize(width: 160, height: 120) && video.data == data)
        #expect(container.data == data && container.type == .mp4 && !container.isPreview)
        #expect(container.userInfo[.videoAssetKey] as? ImageVideo === video)
        let sound = try #require(try VideoUnderTest.decode(try VideoUnderTest.data("gen-h264.mkv")).video)
        #expect(sound.hasAudio)
    }

    @Test("[row 203] pictures of 10 bits have the colours of those of 8")
    func tenBits() throws {
        let image = try VideoUnderTest.decode(try VideoUnderTest.data("gen-h264-10bit.mp4")).image
        #expect(image.format == .rgba8)
        #expect(VideoUnderTest.isNear(VideoUnderTest.mean(image), [114.4, 107.8, 118.1], 4))
    }
}
