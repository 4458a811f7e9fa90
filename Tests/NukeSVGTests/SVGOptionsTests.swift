import FoundationEssentials
import NukeCore
import NukeSVG
import Testing

@Suite("Options of SVG", .needsLibrary, .timeLimit(.minutes(5)))
struct SVGOptionsTests {
    private static let document = SVGUnderTest.document(
        "<rect width='20' height='30' fill='currentColor'/><rect class='q' x='20' width='20' height='30' fill='blue'/>")

    private func pixels(_ options: ImageDecoders.SVG.Options, _ document: Data = document) throws -> [[UInt8]] {
        let image = try SVGUnderTest.decode(document, options).image
        return [image.pixel(10, 10), image.pixel(30, 10)]
    }

    @Test("currentColor is what the options say, and black without them; the document's own goes first")
    func currentColor() throws {
        #expect(try pixels(.init()) == [[0, 0, 0, 255], [0, 0, 255, 255]])
        #expect(
            try pixels(.init(currentColor: PlatformColor(hex: "#12A456") ?? .black)).first == [0x12, 0xA4, 0x56, 255])
        let translucent = try pixels(.init(currentColor: PlatformColor(red: 1, green: 0, blue: 0, alpha: 0.5)))[0]
        #expect(abs(Int(translucent[0]) - 128) <= 1 && abs(Int(translucent[3]) - 128) <= 1)
    }

    @Test("A stylesheet applies to the document; rules that can't be read are passed over")
    func stylesheet() throws {
        #expect(try pixels(.init(stylesheet: ".q { fill: #00ff00 }"))[1] == [0, 255, 0, 255])
        #expect(
            try pixels(.init(stylesheet: "nonsense {{{ \u{0} } .q { fill: #00ff00 }", currentColor: .red)).count == 2)
        #expect(try pixels(.init(stylesheet: "@import url('file:///etc/passwd'); .q { fill: #00ff00 }"))[1][1] == 255)
    }

    @Test("A format is registered with its options")
    func format() async throws {
        let data = Self.document
        let pipeline = SVGUnderTest.pipeline(.svg(.init(currentColor: .red)))
        let image = try await pipeline.image(for: ImageRequest(id: "picture", data: { data }))
        #expect(image.pixel(10, 10) == [255, 0, 0, 255])
        #expect(ImageFormat.svg.fileExtensions == ["svg", "svgz"] && ImageFormat.svg.type == .svg)
        #expect(ImageFormat.svg.missingLibrary() == nil)
        #expect(ImageFormat.svg.libraryVersion()?.hasPrefix("librsvg 2.") == true)
    }

    @Test("Time is the options' or the limits', whichever is less")
    func seconds() {
        var options = ImageDecoders.SVG.Options()
        options.seconds = 0
        #expect(SVGUnderTest.error(Self.document, options)?.code == .limitExceeded)
    }
}
