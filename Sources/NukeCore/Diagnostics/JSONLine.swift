/// One JSON object on a line, its members in the order given.
package struct JSONLine: Sendable {
    package enum Value: Sendable {
        case text(String)
        case integer(Int)
        case number(Double)
        case flag(Bool)
        case list([Value])
        case object(JSONLine)
        case null

        /// A text, or null.
        package init(_ text: String?) { self = text.map { .text($0) } ?? .null }

        /// A number, or null.
        package init(_ number: Int?) { self = number.map { .integer($0) } ?? .null }

        /// Numbers with one decimal.
        package init(_ numbers: [Double]) { self = .list(numbers.map { .number($0) }) }
    }

    package private(set) var members: [(String, Value)] = []

    /// Creates an object without members.
    package init() {}

    /// Adds a member.
    package mutating func add(_ name: String, _ value: Value) { members.append((name, value)) }

    /// The object's text, without a line feed.
    package var text: String {
        "{" + members.map { "\(Self.quoted($0)): \(Self.text($1))" }.joined(separator: ", ") + "}"
    }

    private static func text(_ value: Value) -> String {
        switch value {
        case .text(let text): quoted(text)
        case .integer(let number): "\(number)"
        case .number(let number): number.isFinite ? "\((number * 10).rounded() / 10)" : "null"
        case .flag(let flag): "\(flag)"
        case .list(let values): "[" + values.map(text).joined(separator: ", ") + "]"
        case .object(let line): line.text
        case .null: "null"
        }
    }

    /// RFC 8259, 7: quotation mark, backslash and control characters are escaped.
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20:
                let hex = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
