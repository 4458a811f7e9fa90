import FoundationEssentials
import NukeCore
import NukeDecodersWebP
import NukeTestSupport
import Testing

@Suite("WebP encoder", .needsLibrary, .timeLimit(.minutes(5)))
struct WebPEncoderTests {
    private func difference(_ a: Bitmap, _ b: Bitmap) -> Int {
        zip(a.byteArray, b.byteArray).map { abs(Int($0) - Int($1)) }.max() ?? 0
    }

    private func alphas(of image: Bitmap) -> [UInt8] {
        let bytes = image.byteArray
        return stride(from: 3, to: bytes.count, by: 4).map { bytes[$0] }
    }

    private func chunkTypes(_ data: Data) -> [String] { WebPFile(data).chunks.map(\.type) }

    @Test("Of quality 1 a picture is stored without loss: the very pixels come back, with every alpha")
    func lossless() throws {
        for image in [
            try Picture.photo(width: 61, height: 47), try Picture.translucent(width: 256, height: 77),
            try Picture.flat([0, 0, 0, 0], width: 3, height: 2), try Picture.flat([7, 8, 9, 255], width: 1, height: 1),
        ] {
            let data = try Picture.encode(image)
            let decoded = try WebPUnderTest.decode(data).image
            #expect(decoded.byteArray == image.byteArray && decoded.isOpaque == image.isOpaque, "\(image)")
            #expect(chunkTypes(data) == ["VP8L"])
        }
    }

    @Test("Below that it is lossy, near to the picture, and alpha is kept as it is")
    func lossy() throws {
        let image = try Picture.make(width: 120, height: 75) { x, y in [UInt8(x * 2), UInt8(y * 3), 90, 255] }
        let data = try Picture.encode(image, quality: 0.95)
        #expect(chunkTypes(data) == ["VP8 "])
        let decoded = try WebPUnderTest.decode(data).image
        #expect(decoded.isOpaque && difference(decoded, image) <= 12)
        let translucent = try Picture.make(width: 120, height: 75, isOpaque: false) { x, y in
            let alpha = UInt8(x * 2)
            return [alpha, alpha / 2, 0, alpha]
        }
        let file = try Picture.encode(translucent, quality: 0.9)
        #expect(chunkTypes(file) == ["VP8X", "ALPH", "VP8 "])
        let decodedAlpha = try WebPUnderTest.decode(file).image
        #expect(alphas(of: decodedAlpha) == alphas(of: translucent))
        #expect(difference(decodedAlpha, translucent) <= 24)
    }

    @Test("Higher quality gives larger files; 0.8 is the default, and what is no number counts as 0")
    func quality() throws {
        let image = try Picture.photo(width: 64, height: 64)
        let sizes = try [-1, 0, 0.1, 0.5, 0.9, 0.99].map { try Picture.encode(image, quality: $0).count }
        #expect(sizes[0] == sizes[1] && sizes == sizes.sorted() && Set(sizes).count == 5, "\(sizes)")
        #expect(try Picture.encode(image, quality: .nan).count == sizes[0])
        #expect(try Picture.encode(image, quality: .infinity) == Picture.encode(image, quality: 1))
        #expect(ImageEncoders.WebP().encode(image) == (try Picture.encode(image, quality: 0.8)))
    }

    @Test("Chroma that is asked for in full is made with more care")
    func chroma() throws {
        let image = try Picture.make(width: 64, height: 64) { x, _ in
            x / 3 % 2 == 0 ? [255, 0, 0, 255] : [0, 0, 255, 255]
        }
        func error(_ sampling: ImageEncodingOptions.ChromaSubsampling) throws -> Int {
            let options = ImageEncodingOptions(quality: 0.9, chromaSubsampling: sampling)
            let decoded = try WebPUnderTest.decode(#require(ImageEncoders.WebP(options: options).encode(image))).image
            return zip(decoded.byteArray, image.byteArray).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        }
        #expect(try error(.none) < error(.half))
    }

    @Test("The same image gives the same bytes on every run", arguments: [0.5, 0.8, 1])
    func deterministic(_ quality: Double) async throws {
        let image = try Picture.translucent(width: 150, height: 130)
        let first = try Picture.encode(image, quality: quality)
        let threads = CodecThreads(name: "webp-test", count: 4)
        let others = await withTaskGroup(of: Data?.self) { group in
            for _ in 0..<6 { group.addTask { await threads.run { try? Picture.encode(image, quality: quality) } } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(others.count == 6 && others.allSatisfy { $0 == first })
    }

    @Test("The profile of the bitmap is written, and comes back", arguments: [0.8, 1], [132, 1001])
    func profile(quality: Double, count: Int) throws {
        let space = try #require(ColorSpace(iccProfile: Data(WebPFile.profile(count: count)), for: .rgba8))
        for isOpaque in [true, false] {
            let image = try Picture.make(width: 33, height: 21, isOpaque: isOpaque, colorSpace: space) { x, _ in
                [10, 20, 3, isOpaque ? 255 : UInt8(40 + x)]
            }
            let data = try Picture.encode(image, quality: quality)
            let hasAlphaChunk = quality < 1 && !isOpaque
            #expect(
                chunkTypes(data) == ["VP8X", "ICCP"] + (hasAlphaChunk ? ["ALPH"] : []) + [quality < 1 ? "VP8 " : "VP8L"]
            )
            #expect(WebPFile(data).chunks[0].contents[0] == (isOpaque ? 0x20 : 0x30))
            #expect(data.count == 8 + data[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) } && data.count % 2 == 0)
            let decoded = try WebPUnderTest.decode(data).image
            #expect(decoded.colorSpace == space && decoded.isOpaque == isOpaque)
            let plain = try Picture.make(width: 33, height: 21, isOpaque: isOpaque) { x, _ in
                [10, 20, 3, isOpaque ? 255 : UInt8(40 + x)]
            }
            #expect(
                try decoded.byteArray == WebPUnderTest.decode(Picture.encode(plain, quality: quality)).image.byteArray)
        }
    }

    @Test("Gray becomes gray RGB, without its profile; 16 bits become 8")
    func formats() throws {
        guard var gray = PixelBuffer(width: 16, height: 4, format: .gray8),
            var wide = PixelBuffer(width: 16, height: 4, format: .rgba16)
        else { return }
        for y in 0..<4 {
            gray.withRow(y) { row in
                for x in 0..<16 { row.storeBytes(of: UInt8(x * 16 + y), toByteOffset: x, as: UInt8.self) }
            }
            wide.withRow(y) { row in
                for x in 0..<16 {
                    for (channel, sample) in [UInt16(x * 200), 20_000, 128, 40_000].enumerated() {
                        row.storeBytes(of: sample, toByteOffset: x * 8 + channel * 2, as: UInt16.self)
                    }
                }
            }
        }
        let space = try #require(ColorSpace(iccProfile: Data(WebPFile.profile(space: "GRAY")), for: .gray8))
        let data = try Picture.encode(gray.freeze(colorSpace: space))
        #expect(chunkTypes(data) == ["VP8L"])
        #expect(try WebPUnderTest.decode(data).image.pixel(5, 3) == [83, 83, 83, 255])
        let decoded = try WebPUnderTest.decode(Picture.encode(wide.freeze())).image
        // 2000 / 257 is 7.8, 20000 / 257 is 77.8, 128 / 257 is 0.498 and 40000 / 257 is 155.6.
        #expect(decoded.pixel(10, 1) == [8, 78, 0, 156])
    }

    @Test("A side of more than 16,383 pixels does not fit into the format")
    func tooLarge() throws {
        let image = try Picture.flat([1, 2, 3, 255], width: 16_384, height: 1)
        #expect(throws: ImageEncodingError.unsupported("", codec: "WebP")) { try Picture.encode(image) }
        #expect(ImageEncoders.WebP().encode(image) == nil)
        let fits = try Picture.flat([1, 2, 3, 255], width: 16_383, height: 1)
        #expect(try WebPUnderTest.decode(Picture.encode(fits)).image.width == 16_383)
    }

    @Test("The type of what is encoded is WebP")
    func type() throws {
        #expect(AssetType(try Picture.encode(Picture.flat([1, 2, 3, 255], width: 9, height: 9))) == .webp)
    }
}
