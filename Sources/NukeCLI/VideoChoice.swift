import NukeKit

/// The picture of a video that `--at` or `--sheet` asks for.
enum VideoChoice {
    /// Nil if neither is there.
    static func poster(_ arguments: Arguments) throws(UsageError) -> ImageRequest.VideoPoster? {
        guard let text = arguments[.at] else { return try arguments[.sheet].map(sheet) }
        guard arguments[.sheet] == nil else { throw UsageError(message: "of --at and --sheet, one is enough") }
        return try time(text)
    }

    private static func time(_ text: String) throws(UsageError) -> ImageRequest.VideoPoster {
        let isPart = text.hasSuffix("%")
        let digits = isPart || text.hasSuffix("s") ? text.dropLast() : text[...]
        let limit = isPart ? 100 : 1e6
        guard let first = digits.first, first.isASCII, first.isNumber, let number = Double(digits), number <= limit
        else { throw UsageError(message: "--at wants seconds, as in 2.5s, or a part, as in 10%, not \(text)") }
        return isPart ? .fraction(number / 100) : .time(seconds: number)
    }

    private static func sheet(_ text: String) throws(UsageError) -> ImageRequest.VideoPoster {
        let sides = text.lowercased().split(separator: "x", omittingEmptySubsequences: false)
        guard sides.count == 2, let columns = Int(sides[0]), let rows = Int(sides[1]),
            (1...400).contains(columns), (1...400).contains(rows), columns * rows <= 400
        else {
            throw UsageError(message: "--sheet wants columns and rows, as in 4x4, 400 pictures at most, not \(text)")
        }
        return .sheet(columns: columns, rows: rows)
    }
}
