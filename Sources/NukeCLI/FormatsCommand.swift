import NukeColorManagement
import NukeKit

/// `nuke formats`: tells what is registered and what it can do, or with `--licences` under which terms.
enum FormatsCommand {
    static func run(_ arguments: Arguments) {
        if arguments.has(.licences) {
            let lines = Licence.all.map { $0.json.text + "\n" }
            return Terminal.write(arguments.has(.json) ? lines.joined() : Licence.text)
        }
        ProgramSetup.install()
        let formats = ImageDecoderRegistry.shared.formats
        if arguments.has(.json) {
            for format in formats { Terminal.write(json(format).text + "\n") }
            return
        }
        for format in formats {
            let abilities = names(of: format.capabilities).joined(separator: ", ")
            let names = format.fileExtensions.map { ".\($0)" }.joined(separator: " ")
            let extensions = names.isEmpty ? "" : " (\(names))"
            let library = format.missingLibrary().map { "; \($0)" } ?? format.libraryVersion().map { "; \($0)" } ?? ""
            Terminal.write("\(format.name): \(abilities)\(extensions)\(library)\n")
        }
        let colors = LittleCMS.littleCMS.missingLibrary() ?? LittleCMS.libraryVersion ?? ""
        Terminal.write("Colour profiles of tables and CMYK; \(colors)\n")
    }

    private static func json(_ format: ImageFormat) -> JSONLine {
        var line = JSONLine()
        // First, as it opens libraries whose version is not known before.
        let missing = format.missingLibrary()
        line.add("name", .text(format.name.lowercased()))
        line.add("type", .text(format.type.rawValue))
        line.add("mimeTypes", .list(format.mimeTypes.map { .text($0) }))
        line.add("extensions", .list(format.fileExtensions.map { .text($0) }))
        line.add("capabilities", .list(names(of: format.capabilities).map { .text($0) }))
        line.add("library", .init(format.libraryVersion()))
        line.add("missing", .init(missing))
        return line
    }

    private static func names(of capabilities: ImageFormat.Capabilities) -> [String] {
        let all: [(ImageFormat.Capabilities, String)] = [
            (.decode, "decode"), (.encode, "encode"), (.progressive, "progressive"), (.animation, "animation"),
            (.animationEncoding, "animationEncoding"), (.scaledDecode, "scaledDecode"), (.alpha, "alpha"),
            (.finishesEarly, "finishesEarly"),
        ]
        return all.filter { capabilities.contains($0.0) }.map(\.1)
    }
}
