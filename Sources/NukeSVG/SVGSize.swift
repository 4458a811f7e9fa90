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

    /// The size by the attributes of the root element; throws if that is nothing to be seen, or no size.
    init(root: SVGScanner) throws(ImageDecodingError) {
        let width = try Self.side("width", of: root)
        let height = try Self.side("height", of: root)
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
        guard size.width > 0, size.height > 0 else {
            throw .corruptData("its width or height is 0", codec: ImageDecoders.SVG.codec)
        }
        self.size = ImageSize(width: min(size.width, Self.largest), height: min(size.height, Self.largest))
        viewBox = box ?? self.size
    }

    /// A side as its attribute or the element's style has it; nil if that leaves it to the view box.
    private static func side(_ name: StaticString, of root: SVGScanner) throws(ImageDecodingError) -> Double? {
        var text = root.value(of: name)
        for declaration in root.value(of: "style")?.split(separator: UInt8(ascii: ";")) ?? [] {
            guard let colon = declaration.firstIndex(of: UInt8(ascii: ":")),
                trimmed(declaration[..<colon]).elementsEqual(name.description.utf8)
            else { continue }
            text = declaration[(colon + 1)...]
        }
        guard let text else { return nil }
        switch length(text) {
        case .pixels(let pixels): return pixels
        case .automatic: return nil
        case .none: throw .corruptData("its \(name) is no length", codec: ImageDecoders.SVG.codec)
        }
    }

    private enum Length {
        case pixels(Double)
        /// A percentage, `auto`, or of a unit that says nothing without a window.
        case automatic
        case none
    }

    private static func length(_ text: ArraySlice<UInt8>) -> Length {
        let text = trimmed(text)
        guard let first = text.first, !isLetter(first) else { return .automatic }
        guard let (number, rest) = number(in: text) else { return .none }
        guard number >= 0 else { return .automatic }
        switch String(decoding: rest, as: UTF8.self).lowercased() {
        case "", "px": return .pixels(number)
        case "in": return .pixels(number * 96)
        case "cm": return .pixels(number * 96 / 2.54)
        case "mm": return .pixels(number * 96 / 25.4)
        case "q": return .pixels(number * 96 / 101.6)
        case "pt": return .pixels(number * 96 / 72)
        case "pc": return .pixels(number * 16)
        case "em": return .pixels(number * em)
        case "ex", "ch": return .pixels(number * em / 2)
        case "%", "rem", "vw", "vh", "vmin", "vmax": return .automatic
        default: return .none
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    /// Width and height of `x y width height`; nil if that is not what it says, or nothing.
    private static func box(_ text: ArraySlice<UInt8>) -> ImageSize? {
        let numbers = self.numbers(in: text)
        guard numbers.count == 4, numbers[2] > 0, numbers[3] > 0 else { return nil }
        return ImageSize(width: numbers[2], height: numbers[3])
    }

    /// The same up to what is no number, such as a unit.
    static func leadingNumbers(in text: ArraySlice<UInt8>) -> [Double] {
        var numbers: [Double] = []
        var rest = trimmed(text)
        while numbers.count < 8, let (number, after) = number(in: rest) {
            numbers.append(number)
            rest = after.drop { SVGScanner.isWhite($0) || $0 == UInt8(ascii: ",") }
        }
        return numbers
    }

    /// Numbers with white space or a comma between them; empty if there is something else.
    static func numbers(in text: ArraySlice<UInt8>) -> [Double] {
        var numbers: [Double] = []
        var rest = trimmed(text)
        while !rest.isEmpty, numbers.count < 8 {
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
        if end < text.endIndex, text[end] | 0x20 == UInt8(ascii: "e"),
            isDigit(end + 1) || isSign(end + 1) && isDigit(end + 2)
        {
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
