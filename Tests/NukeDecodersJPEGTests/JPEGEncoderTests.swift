import FoundationEssentials
import NukeCore
import NukeDecodersJPEG
import NukeTestSupport
import Testing

@Suite("JPEG encoder", .timeLimit(.minutes(5)))
struct JPEGEncoderTests {
    private func encode(_ image: Bitmap, _ options: ImageEncodingOptions = ImageEncodingOptions()) throws -> Data {
        let context = ImageEncodingContext(request: ImageRequest(url: nil), image: image)
        return try ImageEncoders.JPEG(options: options).encodedData(
            for: ImageContainer(image: image), context: context)
    }

    /// Marker, sides and sampling factors of the frame header.
    private func frame(_ data: Data) throws -> JPEGFile.Segment {
        try #require(JPEGFile(data).segments.first { [0xC0, 0xC1, 0xC2].contains($0.marker) })
    }

    /// The largest difference of a sample.
    private func difference(_ a: Bitmap, _ b: Bitmap) -> Int {
        zip(a.byteArray, b.byteArray).map { abs(Int($0) - Int($1)) }.max() ?? 0
    }

    @Test("An opaque picture comes back the same but for what the quality costs")
    func roundTrip() throws {
        let image = try Picture.gradient(width: 120, height: 75)
        let decoded = try JPEGUnderTest.decode(encode(image, ImageEncodingOptions(quality: 0.95))).image
        #expect(decoded.size == image.size && decoded.isOpaque)
        #expect(difference(decoded, image) <= 10)
    }

    @Test("The type of what is encoded is JPEG [AST-21]")
    func type() throws {
        #expect(AssetType(try encode(Picture.gradient(width: 9, height: 9))) == .jpeg)
    }

    @Test("Higher quality gives larger files [ENC-03]")
    func quality() throws {
        let image = try Picture.make(width: 64, height: 64) { x, y in
            let value = Double((x * 37 + y * 91 + x * y * 13) % 256) / 255
            return [value, 1 - value, value, 1]
        }
        let sizes = try [-1, 0, 0.1, 0.5, 0.9, 1].map { try encode(image, ImageEncodingOptions(quality: $0)).count }
        #expect(sizes[0] == sizes[1] && sizes == sizes.sorted() && Set(sizes).count == 5)
        let best = try encode(image, ImageEncodingOptions(quality: 1))
        #expect(try encode(image, ImageEncodingOptions(quality: .infinity)) == best)
        #expect(try encode(image, ImageEncodingOptions(quality: .nan)).count == sizes[0])
    }

    @Test("Chroma is stored at half the size, or at the full size when asked")
    func chroma() throws {
        let image = try Picture.gradient(width: 20, height: 20)
        #expect(try frame(encode(image)).content[7] == 0x22)
        #expect(try frame(encode(image, ImageEncodingOptions(chromaSubsampling: .none))).content[7] == 0x11)
    }

    @Test("Files are baseline, or progressive when asked, with the same pixels")
    func progressive() throws {
        let image = try Picture.gradient(width: 50, height: 40)
        let (baseline, progressive) = (try encode(image), try encode(image, ImageEncodingOptions(isProgressive: true)))
        #expect(try frame(baseline).marker == 0xC0)
        #expect(try frame(progressive).marker == 0xC2)
        #expect(try JPEGUnderTest.properties(progressive)?.isProgressive == true)
        #expect(
            try JPEGUnderTest.decode(baseline).image.byteArray == JPEGUnderTest.decode(progressive).image.byteArray)
    }

    @Test("Transparent pixels are put on white")
    func alpha() throws {
        // Premultiplied half-transparent blue on white: 127 of red and green, full blue.
        let image = try Picture.make(width: 16, height: 16, isOpaque: false) { _, _ in [0, 0, 0.5, 0.5] }
        let options = ImageEncodingOptions(quality: 1, chromaSubsampling: .none)
        let pixel = try JPEGUnderTest.decode(encode(image, options)).image.pixel(8, 8)
        #expect(abs(Int(pixel[0]) - 127) <= 2 && abs(Int(pixel[1]) - 127) <= 2 && pixel[2] >= 253)
        let clear = try Picture.make(width: 16, height: 16, isOpaque: false) { _, _ in [0, 0, 0, 0] }
        #expect(try JPEGUnderTest.decode(encode(clear, options)).image.pixel(3, 3) == [255, 255, 255, 255])
    }

    @Test("Gray pictures become gray files")
    func gray() throws {
        let image = try Picture.make(width: 30, height: 20, format: .gray8) { x, _ in [Double(x) / 30] }
        let data = try encode(image, ImageEncodingOptions(quality: 1))
        #expect(try JPEGUnderTest.properties(data)?.colorModel == .gray)
        let decoded = try JPEGUnderTest.decode(data).image
        for x in 0..<30 {
            let pixel = decoded.pixel(x, 10)
            #expect(abs(Int(pixel[0]) - Int(image.pixel(x, 10)[0])) <= 2 && pixel[0] == pixel[1])
        }
    }

    @Test("16 bits a sample become 8, opaque or not")
    func deep() throws {
        let options = ImageEncodingOptions(quality: 0.95)
        for alpha in [1, 0.5] {
            let deep = try Picture.gradient(width: 64, height: 48, format: .rgba16, alpha: alpha)
            let flat = try Picture.gradient(width: 64, height: 48, alpha: alpha)
            let (a, b) = try (encode(deep, options), encode(flat, options))
            #expect(difference(try JPEGUnderTest.decode(a).image, try JPEGUnderTest.decode(b).image) <= 6)
        }
    }

    @Test("The profile of the picture is written, in as many segments as it takes")
    func profile() throws {
        for name in ["gen-icc-p3.jpg", "gen-icc-multichunk.jpg"] {
            let source = try JPEGUnderTest.decode(Fixture.data("jpeg/" + name)).image
            let written = try JPEGUnderTest.decode(encode(source)).image
            #expect(written.colorSpace == source.colorSpace && source.colorSpace.iccProfile != nil)
        }
        let plain = try JPEGFile(encode(Picture.gradient(width: 8, height: 8)))
        #expect(!plain.segments.contains { $0.marker == JPEGFile.app2 })
    }

    @Test("A profile larger than a file can hold is unsupported")
    func largeProfile() throws {
        var profile = Data(count: 65_519 * 255 + 1)
        profile.replaceSubrange(16..<20, with: "RGB ".utf8)
        profile.replaceSubrange(36..<40, with: "acsp".utf8)
        let space = try #require(ColorSpace(iccProfile: profile, for: .rgba8))
        let image = try Picture.make(width: 1, height: 1, colorSpace: space) { _, _ in [0, 0, 0, 1] }
        let error = #expect(throws: ImageEncodingError.self) { try encode(image) }
        #expect(error?.code == .unsupported && error?.codec == "JPEG")
    }

    @Test("Without metadata no EXIF is written: what was turned stays upright [row 130] [ENC-04]")
    func orientation() throws {
        let upright = try JPEGUnderTest.decode(Fixture.data("jpeg/gen-o6.jpg")).image
        let data = try encode(upright)
        #expect(!JPEGFile(data).segments.contains { $0.marker == JPEGFile.app1 })
        let properties = try #require(try JPEGUnderTest.properties(data))
        #expect(properties.orientation == .up && properties.size == upright.size)
    }

    @Test("The same picture gives the same bytes each time")
    func deterministic() throws {
        let image = try Picture.gradient(width: 77, height: 33)
        for isProgressive in [false, true] {
            let options = ImageEncodingOptions(isProgressive: isProgressive)
            #expect(try encode(image, options) == encode(image, options))
        }
    }

    @Test("A side of more than 65,500 pixels is unsupported; encoding to an optional gives nil [ENC-06]")
    func tooWide() throws {
        let image = try Picture.make(width: 65_501, height: 1) { _, _ in [1, 1, 1, 1] }
        let error = #expect(throws: ImageEncodingError.self) { try encode(image) }
        #expect(error?.code == .unsupported && error?.codec == "JPEG")
        #expect(ImageEncoders.JPEG().encode(image) == nil)
        let widest = try Picture.make(width: 65_500, height: 1) { _, _ in [1, 1, 1, 1] }
        #expect(ImageEncoders.JPEG().encode(widest) != nil)
    }
}
