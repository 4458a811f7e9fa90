import NukeKit

/// The text of `--help`, made from the tables of commands and options.
enum HelpText {
    static var all: String {
        var text = """
            nuke loads images: from http(s), file and data URLs and from paths.

            Usage: nuke load INPUT… [options]
                   nuke info INPUT… [options]
                   nuke formats [--licences] [--json]
                   nuke cache stats|clear [--cache DIR]

            An INPUT of /dev/stdin is the bytes of an image. Exit status: 0 all done, 1 some failed, 2 usage, 130 interrupted.

            Commands:

            """
        for command in Command.allCases {
            if let help = command.help { text += "  \(padded(command.rawValue, 22))\(help)\n" }
        }
        for command in [Command.load, .info, .cache] {
            text += "\nOptions of \(command.rawValue):\n"
            for option in Option.all where option.commands.contains(command) && option.name != .help {
                text += "  \(padded(spelling(option), 22))\(option.help)\n"
            }
        }
        text += "\nAlways:\n"
        for option in Option.all where option.name == .help || option.name == .version {
            text += "  \(padded(spelling(option), 22))\(option.help)\n"
        }
        return text
    }

    private static func spelling(_ option: Option) -> String {
        let letter = option.letter.map { "-\($0), " } ?? ""
        return "\(letter)--\(option.name.rawValue)" + (option.value.map { " \($0)" } ?? "")
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text.count < width ? text + String(repeating: " ", count: width - text.count) : text + "  "
    }
}
