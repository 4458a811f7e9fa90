import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.timeLimit(.minutes(5)))
struct AssetTypeTests {
    private func type(_ bytes: [UInt8]) -> AssetType? { AssetType(Data(bytes)) }
    private func type(_ text: String) -> AssetType? { AssetType(Data(text.utf8)) }
    private func brand(_ brand: String) -> AssetType? { type("\u{0}\u{0}\u{0}\u{18}ftyp" + brand) }

    /// Checks that the whole signature gives the type, also with other bytes behind, and nothing shorter does.
    private func expectSignature(
        _ bytes: [UInt8], _ expected: AssetType, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(type(bytes) == expected, sourceLocation: sourceLocation)
        #expect(type(bytes + [1, 2, 3]) == expected, sourceLocation: sourceLocation)
        for count in 0..<bytes.count {
            #expect(type(Array(bytes.prefix(count))) == nil, sourceLocation: sourceLocation)
        }
    }

    @Test("only the first bytes count; nothing and the unknown have no type [AST-01]")
    func unknown() {
        #expect(type([]) == nil && type([0]) == nil && type("hello, world, and more") == nil)
        #expect(type([0xFF, 0xD8, 0xFF]) == type([0xFF, 0xD8, 0xFF] + [UInt8](repeating: 7, count: 5000)))
    }

    @Test("slices serve as well [AST-02]")
    func slices() {
        let data = Data([9, 9, 9, 0xFF, 0xD8, 0xFF, 0xE0, 0, 0])
        #expect(AssetType(data.dropFirst(3)) == .jpeg && AssetType(data.dropFirst(2)) == nil)
        #expect(AssetType(Data("xx<svg xmlns='a'>".utf8).dropFirst(2)) == .svg)
    }

    @Test("JPEG needs three bytes [AST-03]")
    func jpeg() { expectSignature([0xFF, 0xD8, 0xFF], .jpeg) }

    @Test("PNG needs eight bytes [AST-04]")
    func png() { expectSignature([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], .png) }

    @Test("GIF needs its whole signature, of one of two versions [AST-05]")
    func gif() {
        expectSignature(Array("GIF87a".utf8), .gif)
        expectSignature(Array("GIF89a".utf8), .gif)
        #expect(type("GIF88a") == nil && type("GIF\u{0}\u{0}\u{0}") == nil)
    }

    @Test("WebP is RIFF with any length and WEBP [AST-06]")
    func webp() {
        expectSignature(Array("RIFF1234WEBP".utf8), .webp)
        #expect(type("RIFF") == nil && type("RIFF1234WAVE") == nil)
    }

    @Test("ISO media are told by ftyp and the brand, in twelve bytes [AST-07]")
    func isoMedia() {
        expectSignature([0, 0, 0, 0x18] + Array("ftypheic".utf8), .heic)
        #expect(type([0, 0, 0, 0x18] + Array("ftyphei".utf8)) == nil)
    }

    @Test("HEIC brands [AST-08]", arguments: ["heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs"])
    func heic(name: String) { #expect(brand(name) == .heic) }

    @Test("AVIF brands [AST-09]", arguments: ["avif", "avis"])
    func avif(name: String) { #expect(brand(name) == .avif) }

    @Test(
        "MPEG-4 brands [AST-10]",
        arguments: ["isom", "iso2", "iso4", "iso5", "iso6", "mp41", "mp42", "mmp4", "avc1", "dash"])
    func mp4(name: String) { #expect(brand(name) == .mp4) }

    @Test("Apple's video brands [AST-11]")
    func appleVideo() {
        #expect(brand("M4V ") == .m4v && brand("M4VH") == .m4v && brand("M4VP") == .m4v && brand("qt  ") == .mov)
    }

    @Test("brands that tell no type, and what else the data may be [AST-12]")
    func otherBrands() {
        for name in ["mif1", "msf1", "M4A ", "3gp4"] { #expect(brand(name) == nil) }
        // A document that begins like ISO media with an unknown brand, and is something else.
        #expect(type("BM  ftypxxxx") == .bmp)
    }

    @Test("icons, but not cursors [AST-13]")
    func ico() {
        expectSignature([0, 0, 1, 0], .ico)
        #expect(type([0, 0, 2, 0]) == nil)
    }

    @Test("JPEG 2000, boxed and bare [AST-14]")
    func jpeg2000() {
        expectSignature([0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A], .jpeg2000)
        expectSignature([0xFF, 0x4F, 0xFF, 0x51], .jpeg2000)
    }

    @Test("JPEG XL, boxed and bare [AST-15]")
    func jxl() {
        expectSignature([0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A], .jxl)
        expectSignature([0xFF, 0x0A], .jxl)
    }

    @Test("TIFF in both byte orders [AST-16]")
    func tiff() {
        expectSignature([0x49, 0x49, 0x2A, 0x00], .tiff)
        expectSignature([0x4D, 0x4D, 0x00, 0x2A], .tiff)
    }

    @Test("BMP, by two bytes, asked last [AST-17]")
    func bmp() { expectSignature([0x42, 0x4D], .bmp) }

    @Test("raw identifiers are the ones that people know [AST-18]")
    func identifiers() {
        let expected: [(AssetType, String)] = [
            (.png, "public.png"), (.jpeg, "public.jpeg"), (.gif, "com.compuserve.gif"), (.heic, "public.heic"),
            (.webp, "org.webmproject.webp"), (.mp4, "public.mpeg-4"), (.m4v, "com.apple.m4v-video"),
            (.mov, "com.apple.quicktime-movie"), (.ico, "com.microsoft.ico"), (.bmp, "com.microsoft.bmp"),
            (.tiff, "public.tiff"), (.jpeg2000, "public.jpeg-2000"), (.jxl, "public.jpeg-xl"), (.avif, "public.avif"),
        ]
        for (type, identifier) in expected { #expect(type.rawValue == identifier) }
    }

    @Test("types are equal by identifier; any string is one [AST-19]")
    func equality() {
        let custom: AssetType = "org.example.pix"
        #expect(custom == AssetType(rawValue: "org.example.pix") && custom != .png)
        #expect(Set([custom, "org.example.pix", .png]).count == 2)
    }

    @Test("video is mp4, m4v and mov [AST-22]")
    func video() {
        let videos: [AssetType] = [.mp4, .m4v, .mov]
        #expect(videos.filter(\.isVideo) == videos)
        let others: [AssetType] = [.png, .jpeg, .gif, .heic, .webp, .webm, .mkv, .ico, .bmp, .tiff, .jxl, .avif, .svg]
        #expect(others.filter(\.isVideo) == [])
    }

    @Test(
        "SVG is XML whose root is svg",
        arguments: [
            "<svg xmlns='http://www.w3.org/2000/svg'/>", "\u{FEFF}<svg>", " \n\t<svg width='1'>",
            "<?xml version='1.0'?><!-- a > b --><svg ", "<s:svg xmlns:s='x'>",
            "<?xml?>\n<!DOCTYPE svg PUBLIC 'a' 'b'><svg>",
            "<!DOCTYPE svg [ <!ENTITY a 'b>'> ]><svg>",
        ])
    func svg(text: String) { #expect(type(text) == .svg) }

    @Test(
        "what only mentions svg is not SVG",
        arguments: [
            "<html><body><svg></svg></body></html>", "<!DOCTYPE html><html><svg>", "<svgx>", "<!-- <svg> -->", "svg",
            "<?xml version='1.0'?><rss>", "<svg",
        ])
    func notSVG(text: String) { #expect(type(text) == nil) }

    @Test("SVG in UTF-16 of either byte order")
    func svgInUTF16() {
        let units = Array("<?xml version='1.0'?><svg width='1'>".utf16)
        #expect(type([0xFF, 0xFE] + units.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }) == .svg)
        #expect(type([0xFE, 0xFF] + units.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }) == .svg)
    }

    @Test("WebM and Matroska are told by the document type")
    func matroska() {
        func ebml(_ type: String) -> [UInt8] {
            [0x1A, 0x45, 0xDF, 0xA3, 0x9F, 0x42, 0x86, 0x81, 0x01, 0x42, 0x82, 0x80 | UInt8(type.utf8.count)]
                + Array(type.utf8)
        }
        #expect(type(ebml("webm")) == .webm && type(ebml("matroska")) == .mkv && type(ebml("other")) == nil)
        #expect(type([0x1A, 0x45, 0xDF, 0xA3]) == nil)
    }

    @Test("the product that reads or writes a type is named, for what this package has")
    func products() {
        #expect(AssetType.bmp.decoderProduct == "NukeDecodersBasic" && AssetType.bmp.encoderProduct == nil)
        #expect(AssetType.gif.decoderProduct == "NukeDecodersGIF" && AssetType.gif.encoderProduct == "NukeDecodersGIF")
        #expect(AssetType.svg.decoderProduct == "NukeSVG" && AssetType.svg.encoderProduct == nil)
        #expect(AssetType.jxl.decoderProduct == nil && AssetType.jxl.encoderProduct == nil)
    }
}
