internal import NukeCore

/// The size that a document gives itself, by the rules of CSS (CSS 2.2, 10.3.2 and 10.6.2; SVG 2, 8.8) at 96 dots an inch.
struct SVGSize {
    /// Columns and rows, not rounded.
    let size: ImageSize
    /// The size of the view box, whose units the document is written in; that of the picture if there is none.
    let viewBox: ImageSize

    /// What has no size at all, of replaced elements (CSS 2.2, 10.3.2).
    private static let defaultSize = ImageSize(width: 300, height: 150)
    /// Above any limit, and so that a product of two is still a number.
    private static let largest = 1e9
    /// Of librsvg where no font size is told: 12.
    private static let em = 12.0

    /// The size by the attributes of the root element; nil if that is nothing to be seen.
    init?(root: SVGScanner) {
        let width = Self.side("width", of: root)
        let height = Self.side("height", of: root)
        let box = root.value(of: "viewBox").flatMap(Self.box)
        let fallback = Self.defaultSize
        let size =
            switch (width, height, box) {
            case (let width?, let height?, _): ImageSize(width: width, height: height)
            case (let width?, nil, let box?): ImageSize(width: width, height: width * box.height / box.width)
            case (nil, let height?, let box?): ImageSize(width: height * box.width / box.height, height: height)
            case (nil, nil, let box?): box
            default: ImageSize(width: width ?? fallback.width, height: height ?? fallback.height)
            }
        guard size.width > 0, size.height > 0 else { return nil }
        self.size = ImageSize(width: min(size.width, Self.largest), height: min(size.height, Self.largest))
        viewBox = box ?? self.size
    }

    /// A side as its attribute or the element's style has it; nil if that leaves it to the view box.
    private static func side(_ name: StaticString, of root: SVGScanner) -> Double? {
        let styled = root.value(of: "style").flatMap { style in
            style.split(separator: UInt8(ascii: ";")).reversed().lazy.compactMap { declaration -> Double? in
                guard let colon = declaration.firstIndex(of: UInt8(ascii: ":")),
                    trimmed(declaration[..<colon]).elementsEqual(name.description.utf8)
                else { return nil }
                return length(declaration[(colon + 1)...])
            }.first
        }
        return styled ?? root.value(of: name).flatMap(length)
    }

    /// Pixels of a length; nil for percentages, `auto`, and what is none.
    private static func length(_ text: ArraySlice<UInt8>) -> Double? {
        let text = trimmed(text)
        guard let (number, rest) = number(in: text), number >= 0 else { return nil }
        let unit = String(decoding: rest, as: UTF8.self).lowercased()
        let factor: Double? =
            switch unit {
            case "", "px": 1
            case "in": 96
            case "cm": 96 / 2.54
            case "mm": 96 / 25.4
            case "q": 96 / 101.6
            case "pt": 96.0 / 72
            case "pc": 16
            case "em": em
            case "ex", "ch": em / 2
            default: nil
            }
        return factor.map { number * $0 }
    }

    /// Width and height of `x y width height`; nil if that is not what it says, or nothing.
    private static func box(_ text: ArraySlice<UInt8>) -> ImageSize? {
        let numbers = self.numbers(in: text)
        guard numbers.count == 4, numbers[2] > 0, numbers[3] > 0 else { return nil }
        return ImageSize(width: numbers[2], height: numbers[3])
    }

    /// Numbers with white space or a comma between them; empty if there is something else.
    static func numbers(in text: ArraySlice<UInt8>) -> [Double] {
        var numbers: [Double] = []
        var rest = trimmed(text)
        while !rest.isEmpty, numbers.count < 5 {
            guard let (number, after) = number(in: rest) else { return [] }
            numbers.append(number)
            rest = after.drop { SVGScanner.isWhite($0) || $0 == UInt8(ascii: ",") }
        }
        return numbers
    }

    /// The number at the start, and what follows it.
    private static func number(in text: ArraySlice<UInt8>) -> (Double, ArraySlice<UInt8>)? {
        var end = text.startIndex
        func isDigit(_ index: Int) -> Bool { index < text.endIndex && (0x30...0x39).contains(text[index]) }
        func isSign(_ index: Int) -> Bool { index < text.endIndex && (text[index] == 0x2B || text[index] == 0x2D) }
        if isSign(end) { end += 1 }
        while isDigit(end) { end += 1 }
        if end < text.endIndex, text[end] == UInt8(ascii: ".") {
            end += 1
            while isDigit(end) { end += 1 }
        }
        // An exponent, unless it is the start of `em` or `ex`.
        if end < text.endIndex, text[end] | 0x20 == UInt8(ascii: "e"), isDigit(end + 1) || isSign(end + 1) && isDigit(end + 2) {
            end += 2
            while isDigit(end) { end += 1 }
        }
        // What a hundred digits can't say is no number that could be meant.
        guard end - text.startIndex <= 100 else { return nil }
        var digits = String(decoding: text[..<end], as: UTF8.self)
        if digits.hasPrefix("+") { digits.removeFirst() }
        if digits.hasSuffix(".") { digits.removeLast() }
        guard let number = Double(digits), number.isFinite else { return nil }
        return (number, text[end...])
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let start = text.drop(while: SVGScanner.isWhite)
        guard let end = start.lastIndex(where: { !SVGScanner.isWhite($0) }) else { return start }
        return start[...end]
    }
}
