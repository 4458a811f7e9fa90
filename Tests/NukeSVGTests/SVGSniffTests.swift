import FoundationEssentials
import NukeCore
import NukeSVG
import NukeTestSupport
import Testing

@Suite("SVG is told by its root", .timeLimit(.minutes(5)))
struct SVGSniffTests {
    private static func answer(_ data: Data, isCompleted: Bool = true) -> Bool {
        ImageDecoders.SVG(
            context: ImageDecodingContext(request: ImageRequest(url: nil), data: data, isCompleted: isCompleted))
            != nil
    }

    private static let root = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"8\" height=\"8\"/>"
    private static let documents: [(String, Data)] = [
        ("plain", Data(root.utf8)),
        ("declaration", Data(("<?xml version=\"1.0\"?>\n" + root).utf8)),
        ("byte order mark", Data([0xEF, 0xBB, 0xBF]) + Data(root.utf8)),
        ("comments", Data(("<!-- <html> - -> --><!--" + String(repeating: "x", count: 5000) + "-->" + root).utf8)),
        (
            "document type",
            Data(
                """
                <!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd" [
                <!ENTITY a "<html>]>"> <!-- ]> <html> --> ]>\(root)
                """.utf8)
        ),
        ("prefix", Data("<v:svg xmlns:v='http://www.w3.org/2000/svg' width='8' height='8'/>".utf8)),
        ("line break behind the name", Data("<svg\nwidth='8' height='8' xmlns='http://www.w3.org/2000/svg'/>".utf8)),
        ("UTF-16, little end first", utf16(root, isLittle: true, mark: true)),
        ("UTF-16, big end first", utf16(root, isLittle: false, mark: true)),
    ]

    private static func utf16(_ text: String, isLittle: Bool, mark: Bool) -> Data {
        let units = (mark ? [0xFEFF] : []) + Array(text.utf16)
        return Data(
            units.flatMap { isLittle ? [UInt8($0 & 0xFF), UInt8($0 >> 8)] : [UInt8($0 >> 8), UInt8($0 & 0xFF)] })
    }

    @Test(
        "[row 196] Whatever stands before the root, a document is known and drawn", .needsLibrary, arguments: documents)
    func isKnown(_ name: String, _ data: Data) throws {
        #expect(Self.answer(data))
        #expect(try SVGUnderTest.decode(data).image.size == ImageSize(width: 8, height: 8))
    }

    @Test(
        "[row 196] Compressed documents are known, also by their first bytes; other compressed files are not",
        .needsLibrary)
    func compressed() throws {
        // What gzip makes of the plain document, and of "<html></html>".
        let document = try #require(
            Data(
                base64Encoded: "H4sIAAAAAAACA7MpLktXqMjNySu2VcooKSmw0tcvLy/XKzfWyy9K1zcyMDDQ"
                    + "B6pQUijPTCnJsFWyUFLISM1MzygBMfXtAL9Oldc+AAAA"))
        let other = try #require(Data(base64Encoded: "H4sIAAAAAAACA7PJKMnNsbPRB1MAH4cbYA0AAAA="))
        #expect(Self.answer(document) && !Self.answer(other))
        #expect(Self.answer(document.dropLast(12), isCompleted: false))
        #expect(!Self.answer(document.prefix(4), isCompleted: false))
        #expect(try SVGUnderTest.size(document) == [8, 8])
        #expect(try SVGUnderTest.decode(document).image.size == ImageSize(width: 8, height: 8))
        #expect(SVGUnderTest.error(document.dropLast(12))?.code == .truncated)
        var damaged = document
        damaged[damaged.count - 6] ^= 1
        #expect(SVGUnderTest.error(damaged)?.code == .corruptData)
    }

    @Test("What only looks like it is not taken")
    func others() {
        let others = [
            "", " ", "<", "<svg", "<svgx/>", "<html><svg/></html>", "<!DOCTYPE html><html/>", "svg", "{\"svg\": 1}",
            "<!-- <svg/> ",
            "</svg>", "<?xml version=\"1.0\"?>", "x<svg/>", "< svg/>", "<svg:g/>",
        ]
        for other in others { #expect(!Self.answer(Data(other.utf8)), "\(other)") }
    }

    @Test("More is asked for while the root is still to come")
    func more() {
        let registry = ImageDecoderRegistry()
        registry.register(.svg)
        let data = Data(("<!--" + String(repeating: "x", count: 300) + "-->" + Self.root).utf8)
        for count in 1..<data.count {
            let context = ImageDecodingContext(
                request: ImageRequest(url: nil), data: data.prefix(count), isCompleted: false)
            #expect((registry.decoder(for: context) != nil) == (count > 311), "\(count)")
        }
    }
}
