import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCLI

@Suite("Licences", .timeLimit(.minutes(5)))
struct LicenceTests {
    private func page() throws -> [Substring] {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let text = try File.read("/\(root)/Documentation/Licences.md")
        return String(decoding: text, as: UTF8.self).split(separator: "\n")
    }

    @Test("the page has the rows of the program's table, in its order, and no others")
    func table() throws {
        let rows = Licence.all.map {
            "| `\($0.product)` | \($0.library) | \($0.package) | \($0.terms) | \($0.use.rawValue) |"
        }
        #expect(try page().filter { $0.hasPrefix("| `") }.map(String.init) == rows)
        let patents = Licence.patents.map { "| \($0.subject) | \($0.note) |" }
        let subjects = Set(Licence.patents.map(\.subject))
        let lines = try page().filter { line in subjects.contains { line.hasPrefix("| \($0) |") } }
        #expect(lines.map(String.init) == patents)
    }

    @Test("`nuke formats --licences` prints them, for people and for programs")
    func printed() async throws {
        let nuke = try CommandLineProgram()
        let plain = try await nuke.run("formats", "--licences")
        #expect(plain.status == 0)
        for licence in Licence.all {
            #expect(
                plain.text.contains("\(licence.product): \(licence.library) (\(licence.package)), \(licence.terms)"))
        }
        for patent in Licence.patents { #expect(plain.text.contains("\(patent.subject): \(patent.note)\n")) }
        let objects = try await nuke.run("formats", "--licences", "--json").objects()
        #expect(objects.map { $0["library"] } == Licence.all.map { .text($0.library) })
        #expect(objects.map { $0["licence"] } == Licence.all.map { .text($0.terms) })
    }

    @Test("the libraries that the program names have a row")
    func complete() async throws {
        let nuke = try CommandLineProgram()
        let version = try await nuke.run("--version").text.lowercased()
        let known = Licence.all.map { $0.library.lowercased() } + ["lcms2", "libav"]
        for line in version.split(separator: "\n").dropFirst() {
            #expect(known.contains { line.hasPrefix($0) }, "\(line)")
        }
    }
}
