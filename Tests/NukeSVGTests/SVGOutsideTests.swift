import FoundationEssentials
import Glibc
import NukeCore
import NukeSVG
import NukeTestSupport
import Testing

@Suite("SVG loads nothing from outside", .needsLibrary, .timeLimit(.minutes(5)))
struct SVGOutsideTests {
    /// The ways in which a document refers to something outside: the elements, and what stands before the root.
    private static let ways: [(name: String, prolog: String, content: String)] = [
        (
            "image href", "",
            "<image width='40' height='30' xlink:href='$.png'/><image width='9' height='9' href='$.svg'/>"
        ),
        ("use href", "", "<use xlink:href='$.svg#a'/><use href='$.svg#a'/>"),
        ("CSS @import", "", "<style>@import url('$.css'); @import '$.css';</style><rect width='9' height='9'/>"),
        (
            "url() in fill, stroke and marker", "",
            "<path fill='url($.svg#a)' stroke='url($.svg#a)' marker-end='url($.svg#a)' d='M0 0L9 9'/>"
        ),
        (
            "XInclude", "",
            "<xi:include xmlns:xi='http://www.w3.org/2001/XInclude' href='$.svg'/>"
                + "<xi:include xmlns:xi='http://www.w3.org/2001/XInclude' parse='text' href='$.css'/>"
        ),
        ("external entity", "<!DOCTYPE svg [<!ENTITY a SYSTEM '$.svg'>]>", "<text>&a;</text>"),
        (
            "external document type and parameter entity",
            "<!DOCTYPE svg SYSTEM '$.dtd' [<!ENTITY % p SYSTEM '$.dtd'> %p;]>", "<rect width='9' height='9'/>"
        ),
        ("stylesheet instruction", "<?xml-stylesheet type='text/css' href='$.css'?>", "<rect width='9' height='9'/>"),
        (
            "feImage", "",
            "<filter id='f'><feImage xlink:href='$.png'/></filter><rect width='9' height='9' filter='url(#f)'/>"
        ),
        (
            "font-face src", "",
            "<style>@font-face { font-family: F; src: url('$.ttf') }</style><text font-family='F'>a</text>"
        ),
        (
            "url() in style: filter, mask, clip-path, cursor", "",
            "<rect width='9' height='9' style=\"filter:url('$.svg#a');mask:url('$.svg#a');clip-path:url('$.svg#a');cursor:url('$.png')\"/>"
        ),
        (
            "gradients, patterns and text paths", "",
            "<linearGradient id='g' xlink:href='$.svg#a'/><pattern id='p' xlink:href='$.svg#a'/>"
                + "<rect fill='url(#g)' width='9' height='9'/><rect fill='url(#p)' width='9' height='9'/>"
                + "<text><textPath xlink:href='$.svg#a'>a</textPath></text>"
        ),
        (
            "links, scripts, foreign objects and sound", "",
            "<a xlink:href='$.html'><rect width='9' height='9'/></a><script xlink:href='$.js'/><script>fetch('$.js')</script>"
                + "<foreignObject width='9' height='9'><img xmlns='http://www.w3.org/1999/xhtml' src='$.png'/></foreignObject>"
                + "<audio href='$.mp3'/><rect width='9' height='9' onload=\"fetch('$.js')\"/>"
        ),
    ]

    /// Tells whether anything in a folder was opened, read or looked up.
    private final class FolderWatch {
        private let descriptor: Int32

        init(_ folder: String) {
            descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
            inotify_add_watch(descriptor, folder, UInt32(IN_OPEN | IN_ACCESS))
        }

        deinit { close(descriptor) }

        /// Whether something was opened since the last time.
        func hasSeenOpening() -> Bool {
            var block = [UInt8](repeating: 0, count: 64 << 10)
            return read(descriptor, &block, block.count) > 0
        }
    }

    @Test("[row 194] Of 13 ways of referring to something outside none makes a request or opens a file")
    func outside() throws {
        #expect(Self.ways.count >= 12)
        let server = try ScriptedServer { _ in [.response(404)] }
        let folder = try TemporaryFolder()
        let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        let other = SVGUnderTest.document("<g id='a'><rect width='40' height='30' fill='red'/></g>")
        for (ending, data) in [
            ("png", png), ("svg", other), ("css", Data("rect { fill: red }".utf8)),
            ("dtd", Data("<!ENTITY b 'b'>".utf8)),
            ("ttf", png), ("html", png), ("js", png), ("mp3", png),
        ] {
            try data.write(to: URL(fileURLWithPath: folder.file("x." + ending)))
        }
        let watch = FolderWatch(folder.path)
        _ = try File.read(folder.file("x.png"))
        #expect(watch.hasSeenOpening(), "the watch sees nothing")
        let name = folder.path.split(separator: "/").last.map(String.init) ?? ""
        let places = [
            server.url("/x"), "file://" + folder.file("x"), folder.file("x"), "//127.0.0.1:\(server.port)/x",
            "../" + name + "/x",
        ]
        for way in Self.ways {
            for place in places {
                let text = String(decoding: SVGUnderTest.document(way.content), as: UTF8.self)
                let data = Data((way.prolog + text).replacing("$", with: place).utf8)
                // Both are well: a picture without it, or a typed error.
                _ = SVGUnderTest.error(data)
                let embedded = SVGUnderTest.document(
                    "<image width='40' height='30' xlink:href='data:image/svg+xml;base64,\(data.base64EncodedString())'/>"
                )
                _ = SVGUnderTest.error(embedded)
                #expect(!watch.hasSeenOpening(), "\(way.name): \(place) is opened")
            }
        }
        #expect(server.connectionCount == 0 && server.requests.isEmpty)
    }

    @Test("[row 194] Entities from outside are no text in the picture")
    func externalEntity() throws {
        let data = Data(
            "<!DOCTYPE svg [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><svg xmlns='http://www.w3.org/2000/svg'>&a;</svg>"
                .utf8)
        #expect(SVGUnderTest.error(data)?.code == .corruptData)
    }
}
