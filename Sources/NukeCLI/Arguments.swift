/// The command line, taken apart.
struct Arguments: Sendable {
    let command: Command
    /// What is neither command nor option, in order.
    let operands: [String]
    private let values: [Option.Name: String]

    init(_ words: some Sequence<String>) throws(UsageError) {
        var operands: [String] = []
        var values: [Option.Name: String] = [:]
        var used: [(Option, String)] = []
        var words = words.makeIterator()
        var areOptionsOver = false
        while let word = words.next() {
            guard !areOptionsOver, word.hasPrefix("-"), word != "-" else {
                operands.append(word)
                continue
            }
            if word == "--" {
                areOptionsOver = true
                continue
            }
            let (option, attached) = try Self.option(word)
            used.append((option, word))
            if option.value == nil {
                if attached != nil { throw UsageError(message: "\(word) takes no value") }
                values[option.name] = ""
            } else {
                guard let value = attached ?? words.next() else { throw UsageError(message: "\(word) wants a value") }
                values[option.name] = value
            }
        }
        if values[.help] != nil || values[.version] != nil {
            command = values[.help] != nil ? .help : .version
        } else {
            guard let first = operands.first else { throw UsageError(message: "there is no command") }
            guard let command = Command(rawValue: first) else {
                throw UsageError(message: "there is no command \(first)")
            }
            operands.removeFirst()
            if let (_, word) = used.first(where: { !$0.0.commands.contains(command) }) {
                throw UsageError(message: "\(command.rawValue) has no option \(word)")
            }
            self.command = command
        }
        self.operands = operands
        self.values = values
    }

    /// The option that a word names, and the value attached to it by `=` or, to a letter, directly.
    private static func option(_ word: String) throws(UsageError) -> (Option, String?) {
        let unknown = UsageError(message: "there is no option \(word)")
        if word.hasPrefix("--") {
            let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let option = Option.all.first(where: { $0.name.rawValue == parts[0] }) else { throw unknown }
            return (option, parts.count > 1 ? String(parts[1]) : nil)
        }
        let letters = word.dropFirst()
        guard let letter = letters.first, let option = Option.all.first(where: { $0.letter == letter }) else {
            throw unknown
        }
        let rest = letters.dropFirst()
        return (option, rest.isEmpty ? nil : String(rest))
    }

    /// Whether an option was given.
    func has(_ name: Option.Name) -> Bool { values[name] != nil }

    /// The value of an option.
    subscript(name: Option.Name) -> String? { values[name] }

    /// The value of an option as a number within a range.
    func integer(_ name: Option.Name, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = values[name] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw UsageError(
                message:
                    "--\(name.rawValue) wants a number from \(range.lowerBound) to \(range.upperBound), not \(text)")
        }
        return number
    }
}
