import FoundationEssentials
import Glibc
import NukeKit
import NukeTestSupport
import Testing

/// `nuke` and SVG, in a process of its own: memory, time and fonts are a process's.
@Suite(
    "nuke and SVG", .enabled(if: ImageFormat.svg.missingLibrary() == nil, "librsvg is not there"),
    .timeLimit(.minutes(5)))
struct SVGCommandTests {
    let nuke: CommandLineProgram

    init() throws { nuke = try CommandLineProgram() }

    private func add(_ text: String, as name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: nuke.folder.file(name)))
    }

    private static func document(_ content: String, side: Int = 1024) -> String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="\(side)" \
        height="\(side)">\(content)</svg>
        """
    }

    @Test("info tells the size without drawing, load draws at the size asked for, formats names the library")
    func commands() async throws {
        try add(Self.document("<rect x='50' width='50' height='100' fill='red'/>", side: 100), as: "a.svg")
        let info = try await nuke.run("info", "a.svg", "--json")
        let object = try info.objects()[0]
        #expect(object["format"] == .text("svg") && object["width"] == .number(100))
        #expect(try await nuke.run("load", "a.svg", "--resize", "640", "--enlarge", "-o", "a.png").status == 0)
        let picture = try nuke.picture("a.png")
        #expect(
            picture.width == 640
                && picture.row(9).withUnsafeBytes { Array($0[(319 * 4)..<(321 * 4)]) } == [0, 0, 0, 0, 255, 0, 0, 255])
        let formats = try await nuke.run("formats").text
        #expect(formats.contains("SVG: decode, scaledDecode, alpha (.svg .svgz); librsvg 2."))
    }

    @Test("[row 199] [row 200] Where there are no fonts text is left out, and a warning tells so")
    func withoutFonts() async throws {
        let none = nuke.folder.file("none")
        try add(
            "<fontconfig><dir>\(none)</dir><cachedir>\(none)</cachedir></fontconfig>", as: "fonts.conf")
        try add(
            Self.document("<text y='40' font-size='40'>a</text><rect y='50' width='9' height='9'/>", side: 64),
            as: "a.svg")
        let outcome = try await nuke.run(
            ["load", "a.svg", "-o", "a.png"], environment: ["FONTCONFIG_FILE": nuke.folder.file("fonts.conf")])
        #expect(outcome.status == 0)
        #expect(outcome.errors.contains("SVG: no fonts are installed"))
        #expect(try nuke.picture("a.png").width == 64)
    }

    /// Documents that ask for much in a little text, each of which librsvg by itself works on for long, or in gigabytes.
    private static let bombs: [String: String] = {
        let uses = (1...8).map { level in
            "<g id='a\(level)'>\(String(repeating: "<use xlink:href='#a\(level - 1)'/>", count: 10))</g>"
        }
        let entities = (1...9).map { "<!ENTITY l\($0) \"\(String(repeating: "&l\($0 - 1);", count: 10))\">" }
        let blurs = (0..<120).map { "<feGaussianBlur in='SourceGraphic' stdDeviation='50' result='r\($0)'/>" }
        let rules = (0..<20_000).map { "g g g g g .a\($0){fill:red}" }
        func filtered(_ steps: String) -> String {
            document("<filter id='f'>\(steps)</filter><rect width='1024' height='1024' filter='url(#f)'/>")
        }
        return [
            "entities": "<!DOCTYPE svg [<!ENTITY l0 \"lol\">\(entities.joined())]>" + document("<text>&l9;</text>"),
            "use": document("<g id='a0'><rect width='9' height='9'/></g>" + uses.joined()),
            "noise": filtered("<feTurbulence baseFrequency='.1' numOctaves='45'/>"),
            "more noise": filtered("<feTurbulence numOctaves='100000'/>"),
            "growing": filtered("<feMorphology operator='dilate' radius='45'/>"),
            "steps": filtered(blurs.joined()),
            "1e9 pixels": "<svg xmlns='http://www.w3.org/2000/svg' width='1e9' height='1e9'/>",
            "paths of 10 MB": document("<path d='M0 0\(String(repeating: " L 10 20 30 40", count: 700_000))'/>"),
            "paths of 2 MB": document(
                "<path stroke='red' d='M0 0\(String(repeating: " L 10 900 1000 40", count: 110_000))'/>"),
            "a pattern": document(
                "<pattern id='p' width='30000' height='30000' patternUnits='userSpaceOnUse'><rect width='30000' height='30000'/>"
                    + "</pattern><rect width='1024' height='1024' fill='url(#p)'/>"),
            "rules": document(
                "<style>\(rules.joined())</style>" + String(repeating: "<rect class='x'/>", count: 30_000)),
        ]
    }()

    @Test(
        "[row 191] A bomb ends with an error or an image within 512 MB",
        .disabled(if: AddressSanitizer.isActive, "the sanitizer needs more than the limit"),
        arguments: bombs.keys.sorted())
    func bomb(_ name: String) async throws {
        try add(try #require(Self.bombs[name]), as: "bomb.svg")
        // The kernel refuses more (RLIMIT_DATA, in KiB), and a program that asks for more ends by a signal.
        let outcome = try await ChildProcess.run(
            "/bin/sh",
            [
                "-c", "ulimit -d 524288; exec \"$@\"", "sh", ChildProcess.built("nuke"), "load",
                nuke.folder.file("bomb.svg"), "-o", nuke.folder.file("out.png"), "--quiet",
            ])
        #expect(outcome.status == 0 || outcome.status == 1, "it ended with \(outcome.status): \(outcome.errors)")
        #expect(outcome.status == 0 || outcome.errors.contains("SVG"), "\(outcome.errors)")
    }
}
