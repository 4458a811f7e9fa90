import FoundationEssentials
import NukeCore
import NukeTestSupport
import Testing

@testable import NukeSVG

@Suite("Documents that ask for too much", .needsLibrary, .timeLimit(.minutes(5)))
struct SVGBombTests {
    private static func filter(_ steps: String) -> Data {
        SVGUnderTest.document(
            "<filter id='f'>\(steps)</filter><rect width='1000' height='1000' filter='url(#f)'/>", width: "1000",
            height: "1000")
    }

    /// The first bytes of a PNG of this size.
    private static func png(_ side: UInt32) -> String {
        let sides = [side, side].flatMap { side in
            (0..<4).map { UInt8(truncatingIfNeeded: side >> (24 - 8 * UInt32($0))) }
        }
        return
            (Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]) + Data("IHDR".utf8) + Data(sides)
            + Data([1, 0, 0, 0, 0])).base64EncodedString()
    }

    private static let refused: [(String, Data)] = [
        ("noise", filter("<feTurbulence numOctaves='51'/>")),
        ("noise in several", filter(String(repeating: "<feTurbulence numOctaves='9'/>", count: 6))),
        ("noise by an entity", filter("<feTurbulence numOctaves='&#57;9'/>")),
        ("growing", filter("<feMorphology radius='30'/><feMorphology radius='3 21'/>")),
        ("convolution", filter("<feConvolveMatrix order='20' kernelMatrix='1'/>")),
        (
            "a kernel of more numbers than librsvg reads",
            filter("<feConvolveMatrix order='21' kernelMatrix='\(String(repeating: "1 ", count: 441))'/>")
        ),
        (
            "a fine grid",
            filter("<feConvolveMatrix order='3' kernelUnitLength='.04' kernelMatrix='1 1 1 1 1 1 1 1 1'/>")
        ),
        ("many steps", filter(String(repeating: "<feGaussianBlur in='SourceGraphic' result='r'/>", count: 400))),
        (
            "a tile",
            SVGUnderTest.document(
                "<pattern id='p' patternUnits='userSpaceOnUse' width='30000' height='30000'><rect width='9' height='9'/></pattern>"
                    + "<rect width='9' height='9' fill='url(#p)'/>")
        ),
        (
            "a tile by a transform",
            SVGUnderTest.document(
                "<pattern id='p' patternTransform='scale(1000)' patternUnits='userSpaceOnUse' width='30' height='30'/>")
        ),
        ("an embedded image", SVGUnderTest.document("<image xlink:href='data:image/png;base64,\(png(30_000))'/>")),
        (
            "an embedded image, its address disguised",
            SVGUnderTest.document("<image xlink:href=' &#100;ATA:image/png;base64,\(png(30_000))'/>")
        ),
        (
            "an embedded document",
            SVGUnderTest.document(
                "<image href='data:image/svg+xml,%3Csvg width=%2230000%22 height=%2230000%22/%3E'/>")
        ),
        (
            "filters in entities",
            Data("<!DOCTYPE svg [<!ENTITY a '&#60;feTurbulence numOctaves=\"999\"/>'>]>".utf8)
                + filter("&a;")
        ),
        ("transforms", SVGUnderTest.document("<g transform='scale(1e5)'><g transform='matrix(1e5 0 0 1 0 0)'/></g>")),
        ("1e9 pixels", SVGUnderTest.document(width: "1e9", height: "1e9")),
        ("a long side", SVGUnderTest.document(width: "40000", height: "1")),
    ]

    @Test("[row 191] What would take too much time or memory is refused unseen", arguments: refused)
    func isRefused(_ name: String, _ data: Data) throws {
        #expect(SVGUnderTest.error(data)?.code == .limitExceeded)
        #expect(SVGUnderTest.error(data)?.reason.isEmpty == false)
    }

    @Test("Filters count by the pixels that they work on: drawn smaller, the same document passes")
    func smaller() throws {
        let data = Self.filter("<feTurbulence numOctaves='51'/>")
        let image = try SVGUnderTest.decode(data) { $0.request.thumbnail = .init(maxPixelSize: 100) }.image
        #expect(image.size == ImageSize(width: 100, height: 100))
    }

    @Test("[row 193] More than 2 MB are refused, compressed or not, unless the options allow more")
    func bytes() throws {
        let data = SVGUnderTest.document("<!--" + String(repeating: " ", count: 2 << 20) + "-->")
        let error = try #require(SVGUnderTest.error(data))
        #expect(error.code == .limitExceeded && error.reason.hasSuffix("a document may have 2097152"))
        var options = ImageDecoders.SVG.Options()
        options.byteCount = 16 << 20
        #expect(try SVGUnderTest.decode(data, options).image.width == 40)
        // libxml2 by itself refuses texts of more than 10 MB.
        let long = SVGUnderTest.document("<!--" + String(repeating: " ", count: 11 << 20) + "-->")
        #expect(try SVGUnderTest.decode(long, options).image.width == 40)
    }

    @Test("Entities that multiply are a typed error")
    func entities() {
        let levels = (1...9).map { level in
            "<!ENTITY l\(level) \"\(String(repeating: "&l\(level - 1);", count: 10))\">"
        }
        let data =
            Data("<!DOCTYPE svg [<!ENTITY l0 \"lol\">\(levels.joined())]>".utf8)
            + SVGUnderTest.document("<text>&l9;</text>")
        #expect(SVGUnderTest.error(data) != nil)
    }

    @Test(
        "[row 197] Tags and entities that do not end are told in no time",
        arguments: ["<g>", "<g a='", "<!--", "&a", "<![CDATA[", "<?", "<g "])
    func unclosed(_ text: String) {
        let content = String(repeating: text, count: (1 << 20) / text.utf8.count)
        for data in [SVGUnderTest.document(content), Data(("<!DOCTYPE svg [" + content).utf8)] {
            let context = SVGUnderTest.context(data) { $0.limits.seconds = 60 }
            let decoder: (any ImageDecoding)? = ImageDecoders.SVG(context: context)
            #expect(throws: ImageDecodingError.self) {
                if let decoder { _ = try decoder.decode(data) } else { throw ImageDecodingError.cancelled }
            }
        }
    }

    @Test("What librsvg gives up on is a typed error, again and again, and the process goes on")
    func panics() throws {
        // A language of this kind makes librsvg 2.54 panic; later ones draw the document.
        let data = SVGUnderTest.document(
            "<style>:lang(x-private) { fill: red }</style><rect xml:lang='x' width='9' height='9'/>")
        for _ in 0..<5 {
            if let error = SVGUnderTest.error(data) { #expect(error.code == .corruptData) }
            #expect(try SVGUnderTest.decode(SVGUnderTest.document()).image.width == 40)
        }
    }
}
