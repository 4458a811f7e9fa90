import FoundationEssentials
import NukeCore
import NukeDecodersWebP
import NukeTestSupport
import Testing

/// What is read of the container, without decoding.
@Suite("WebP header", .timeLimit(.minutes(5)))
struct WebPHeaderTests {
    private func code(_ data: Data) -> ImageDecodingError.Code? {
        do throws(ImageDecodingError) {
            _ = try WebPUnderTest.properties(data)
            return nil
        } catch {
            return error.code
        }
    }

    @Test(
        "A file with more than one picture and no animation has the first; found by the fuzzer, which it held for ever")
    func severalPictures() throws {
        var file = WebPFile(try Fixture.data("webp/gen-lossy.webp"))
        file.extend(width: 135, height: 90, flags: 0)
        func pixels() throws -> Data {
            try WebPUnderTest.decode(file.data).image.bytes.withUnsafeBytes { unsafe Data($0) }
        }
        let one = try pixels()
        file.chunks += file.picture + file.picture
        #expect(try WebPUnderTest.properties(file.data)?.frameCount == 1)
        #expect(try pixels() == one)
    }

    @Test("An animation is known by byte 20, bit 1 of the VP8X chunk, and by no other [row 161]")
    func animationFlag() throws {
        let data = try Fixture.data("webp/gen-anim-offsets.webp")
        #expect(data[20] & 2 == 2)
        #expect(try WebPUnderTest.properties(data)?.frameCount == 6)
        var other = data
        other[20] &= ~2
        #expect(code(other) == .corruptData)
        var still = WebPFile(try Fixture.data("webp/gen-lossy.webp"))
        for bit in [0, 2, 3, 4, 5, 6, 7] as [UInt8] {
            still.extend(width: 135, height: 90, flags: 1 << bit)
            #expect(try WebPUnderTest.properties(still.data)?.frameCount == 1)
        }
        still.extend(width: 135, height: 90, flags: WebPFile.Flag.animation)
        #expect(code(still.data) == .corruptData)
        // Thirty bytes are all of the chunk: enough to know the canvas, but not yet what is on it.
        #expect(code(data.prefix(30)) == .truncated)
    }

    @Test("Sizes, alpha, depth and frames are told as stored")
    func properties() throws {
        let lossy = try #require(try WebPUnderTest.properties(Fixture.data("webp/gen-lossy.webp")))
        #expect((lossy.width, lossy.height, lossy.hasAlpha, lossy.bitDepth) == (135, 90, false, 8))
        #expect(lossy.frameCount == 1 && lossy.loopCount == nil && lossy.frameDurations.isEmpty)
        #expect(lossy.type == .webp && lossy.colorModel == .rgb && !lossy.hasICCProfile && !lossy.isProgressive)
        #expect(try WebPUnderTest.properties(Fixture.data("webp/gen-lossy-alpha.webp"))?.hasAlpha == true)
        #expect(try WebPUnderTest.properties(Fixture.data("webp/gen-lossless.webp"))?.hasAlpha == false)
        #expect(try WebPUnderTest.properties(Fixture.data("webp/gen-lossless-alpha.webp"))?.hasAlpha == true)
        #expect(try WebPUnderTest.properties(Fixture.data("webp/gen-anim-loop65535.webp"))?.hasAlpha == false)
        #expect(try WebPUnderTest.properties(Fixture.data("webp/gen-icc-swapped.webp"))?.hasICCProfile == true)
    }

    @Test(
        "EXIF data turns the picture and tells its density, with or without JPEG's header, wherever it stands",
        .needsLibrary)
    func exif() throws {
        for prefix in ["", "Exif\0\0"] {
            var file = try WebPFile(fixture: "gen-lossy.webp")
            file.extend(width: 135, height: 90, flags: 0)
            file.add(exif: Array(prefix.utf8) + WebPFile.exif(.left))
            for data in [file.data, WebPFile([file.chunks[0], file.chunks[2], file.chunks[1]]).data] {
                let properties = try #require(try WebPUnderTest.properties(data))
                #expect(properties.orientation == .left && properties.width == 90 && properties.height == 135)
                let image = try WebPUnderTest.decode(data).image
                #expect((image.width, image.height) == (90, 135))
            }
        }
    }

    @Test("A thumbnail without transform is left as stored, and says what it is to be turned by", .needsLibrary)
    func storedLayout() throws {
        let data = try Fixture.data("webp/gen-exif-o6.webp")
        let container = try WebPUnderTest.decode(data) {
            var thumbnail = ImageRequest.ThumbnailOptions(maxPixelSize: 200)
            thumbnail.createThumbnailWithTransform = false
            $0.request.thumbnail = thumbnail
        }
        #expect((container.image.width, container.image.height) == (135, 90))
        #expect(container.userInfo[.orientationKey] as? ImageOrientation == .right)
    }

    @Test("A file cut within its header is truncated, at any byte, and then no WebP if its first bytes are others")
    func cutHeader() throws {
        for name in ["gen-lossy", "gen-lossless", "gen-lossy-alpha", "gen-anim-offsets"] {
            let data = try Fixture.data("webp/\(name).webp")
            for count in 0..<20 { #expect(code(data.prefix(count)) == .truncated, "\(name) cut after \(count)") }
        }
        for text in ["GIF89a", "RIFX", "RIFF\u{4}\0\0\0WAVE", "<html><body>404</body></html>"] {
            #expect(code(Data(text.utf8)) == .corruptData, "\(text)")
        }
        #expect(code(Data(count: 100)) == .corruptData)
    }

    @Test("A file that says it is shorter than its picture is corrupt")
    func shortFile() throws {
        for name in ["gen-lossy", "gen-lossless", "gen-lossy-alpha", "gen-anim-offsets"] {
            var data = try Fixture.data("webp/\(name).webp")
            data.replaceSubrange(4..<8, with: WebPFile.littleEndian(200, 4))
            #expect(code(data) == .corruptData, "\(name)")
            for size in 0..<40 {
                data.replaceSubrange(4..<8, with: WebPFile.littleEndian(size, 4))
                #expect(code(data) == .corruptData, "\(name) of \(size)")
            }
        }
    }

    @Test("What stands behind the file's end does not count", .needsLibrary)
    func trailing() throws {
        let data = try Fixture.data("webp/gen-lossless.webp")
        let image = try WebPUnderTest.decode(data + Data(count: 500)).image
        #expect(try image.byteArray == WebPUnderTest.decode(data).image.byteArray)
    }

    @Test("A picture that is not of the canvas's size, or a frame that is not on it, is corrupt", .needsLibrary)
    func sizes() throws {
        var still = try WebPFile(fixture: "gen-lossy.webp")
        for (width, height) in [(134, 90), (135, 91), (1, 1), (16_384, 16_384)] {
            still.extend(width: width, height: height, flags: 0)
            #expect(code(still.data) == .corruptData, "\(width)x\(height)")
        }
        let image = try Picture.flat([1, 2, 3, 255], width: 4, height: 4)
        for (x, y) in [(6, 0), (0, 6), (1 << 24, 0), (0, 1 << 24)] {
            let file = AnimationFile(width: 8, height: 8, frames: [.init(x: x, y: y, image: image)])
            #expect(code(try file.data()) == .corruptData, "at \(x), \(y)")
        }
        var file = try AnimationFile(width: 8, height: 8, frames: [.init(x: 2, y: 2, image: image)]).file()
        #expect(code(file.data) == nil)
        // The frame says five columns, its picture has four.
        file.chunks[2].contents[6] = 4
        #expect(code(file.data) == .corruptData)
    }

    @Test("Chunks of no account are passed over, and of two of a kind the first counts", .needsLibrary)
    func otherChunks() throws {
        var file = try WebPFile(fixture: "gen-lossy.webp")
        file.extend(width: 135, height: 90, flags: 0)
        let odd = WebPFile.Chunk(type: "ODD ", contents: [1, 2, 3])
        file.chunks.insert(contentsOf: [odd, odd], at: 1)
        file.add(exif: WebPFile.exif(.down))
        file.chunks += [odd, WebPFile.Chunk(type: "EXIF", contents: WebPFile.exif(.left))]
        #expect(try WebPUnderTest.properties(file.data)?.orientation == .down)
        file.chunks.append(file.picture[0])
        #expect(try WebPUnderTest.decode(file.data).image.height == 90)
    }

    @Test("Of chunks of no account ten thousand are looked at", .needsLibrary)
    func chunkFlood() throws {
        var file = try WebPFile(fixture: "gen-lossy.webp")
        file.extend(width: 135, height: 90, flags: 0)
        file.chunks += [WebPFile.Chunk](repeating: .init(type: "ODD ", contents: []), count: 10_001)
        file.add(exif: WebPFile.exif(.left))
        #expect(try WebPUnderTest.properties(file.data)?.orientation == .up)
        #expect(try WebPUnderTest.decode(file.data).image.height == 90)
    }

    @Test("The profile belongs to the bitmap, whose bytes are its own [row 164]", .needsLibrary)
    func profile() throws {
        var image: Bitmap?
        do {
            var file = try WebPFile(fixture: "gen-lossless-alpha.webp")
            file.extend(width: 135, height: 90, flags: WebPFile.Flag.alpha)
            file.add(profile: WebPFile.profile(count: 4001))
            // Memory that goes away with the data, and is overwritten before.
            let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: file.data.count, alignment: 8)
            file.data.withUnsafeBytes { bytes.copyMemory(from: $0) }
            if let start = bytes.baseAddress {
                let data = Data(bytesNoCopy: start, count: bytes.count, deallocator: .none)
                image = try WebPUnderTest.decode(data).image
            }
            bytes.initializeMemory(as: UInt8.self, repeating: 0xAA)
            bytes.deallocate()
        }
        #expect(image?.colorSpace.iccProfile == Data(WebPFile.profile(count: 4001)))
    }

    @Test("A profile that is not for RGB, or larger than metadata may be, is left out", .needsLibrary)
    func unfitProfile() throws {
        var file = try WebPFile(fixture: "gen-lossy.webp")
        file.extend(width: 135, height: 90, flags: 0)
        file.add(profile: WebPFile.profile(space: "CMYK"))
        #expect(try WebPUnderTest.decode(file.data).image.colorSpace == .sRGB)
        file.chunks[1].contents = WebPFile.profile(count: 1000)
        #expect(try WebPUnderTest.decode(file.data).image.colorSpace != .sRGB)
        #expect(try WebPUnderTest.decode(file.data) { $0.limits.metadataBytes = 999 }.image.colorSpace == .sRGB)
    }

    @Test("The sniff knows a WebP by twelve bytes, and waits for them")
    func sniff() throws {
        let registry = ImageDecoderRegistry()
        registry.register(.webp)
        let data = try Fixture.data("webp/gen-lossy.webp")
        for count in [12, 13, 500] { #expect(registry.format(of: data.prefix(count)) != nil) }
        for count in 0..<12 { #expect(registry.format(of: data.prefix(count)) == nil) }
        #expect(registry.format(of: Data("RIFF....WAVEfmt ".utf8)) == nil)
        #expect(ImageFormat.webp.capabilities.isSuperset(of: [.decode, .encode, .progressive, .animation, .alpha]))
    }
}
