internal import NukeCore

/// Sums up what the elements of a document ask for, before librsvg sees them: of time, and of memory.
///
/// It errs on the side of too much where it can't tell. What it misses, the time limit ends.
struct SVGSurvey {
    /// Whether there is text to be drawn.
    private(set) var hasText = false

    /// What filters do to each pixel, whatever its size: layers of noise, and the areas of convolutions as far as they cost as much.
    private var pixelWork = 0.0
    /// Radii of what grows and shrinks shapes, in units of the document.
    private var radii = 0.0
    /// The most steps that a filter has, each of which keeps pixels of its own.
    private var steps = 0.0
    /// The finest grid that a filter is computed on, in units of the document.
    private var finestGrid = Double.infinity
    /// The largest tile of a pattern in square units, and in parts of what it fills.
    private var tileArea = 0.0
    private var tilePart = 0.0
    /// The longest side of a shape, in units.
    private var longestSide = 0.0
    /// How much larger than the document's a unit is, at most.
    private var magnification = 1.0
    /// Pixels of the largest embedded image.
    private var embeddedPixels = 0.0

    /// How deep documents may stand in one another.
    private static let embeddingDepth = 3
    /// The numbers that librsvg 2.54 reads of a kernel; of more it ends the process.
    private static let kernelCount = 400.0
    /// Above any number in a transform that means something.
    private static let largestNumber = 1e9
    /// What elements begin with, or addresses, that make work and could be hidden in the document type.
    private static let hidden = ["<fe", "<pattern", "data:"].map { Array($0.utf8) }

    /// What the filters do to each pixel, where a unit has so many.
    func filterWork(pixelsPerUnit: Double) -> Double { pixelWork + radii * pixelsPerUnit }

    /// Bytes that are held beside the picture when it is drawn at a size.
    func layerBytes(_ drawn: ImageSize, pixelsPerUnit: Double) -> Double {
        let picture = drawn.width * drawn.height * 4
        let scale = pixelsPerUnit * magnification
        let grid = finestGrid < 1 / scale ? 1 / (finestGrid * scale) : 1
        let filled = max(drawn.width, longestSide * scale) * max(drawn.height, longestSide * scale)
        let tiles = max(tileArea * scale * scale, tilePart * filled) * 4
        // An embedded image is held as the file's pixels and as cairo's.
        let sum = picture * steps + (grid > 1 ? picture * grid * grid : 0) + tiles + embeddedPixels * 8
        return sum.isNaN ? .infinity : sum
    }

    /// Reads to the end; gives the scanner as it is at the root, or nil if that is something else.
    mutating func read(_ start: SVGScanner, depth: Int = 0) throws(ImageDecodingError) -> SVGScanner? {
        var scanner = start
        var root: SVGScanner?
        /// Of each element that is open, how much larger its units are.
        var open: [Double] = []
        var stepsHere = 0.0
        while true {
            switch scanner.next() {
            case .end: return root
            case .subset(let range): try check(subset: scanner.bytes[range])
            case .endTag: _ = open.popLast()
            case .startTag:
                if root == nil {
                    guard scanner.localName.elementsEqual("svg".utf8) else { return nil }
                    root = scanner
                }
                let scale = try (open.last ?? 1) * Self.scale(of: scanner.value(of: "transform"))
                magnification = max(magnification, scale)
                guard magnification < Self.largestNumber else {
                    throw .limitExceeded("transforms by numbers that are too large", codec: ImageDecoders.SVG.codec)
                }
                if scanner.isNamed("filter") { stepsHere = 0 }
                if scanner.localName.starts(with: "fe".utf8) {
                    stepsHere += 1
                    steps = max(steps, stepsHere)
                }
                try note(scanner, depth: depth)
                if !scanner.isEmptyElement { open.append(scale) }
            }
        }
    }

    private mutating func note(_ element: SVGScanner, depth: Int) throws(ImageDecodingError) {
        if element.isNamed("text") {
            hasText = true
        } else if element.isNamed("pattern") {
            try notePattern(element)
        } else if element.isNamed("rect") || element.isNamed("image") || element.isNamed("use") {
            longestSide = max(longestSide, element.number("width", 0), element.number("height", 0))
        } else if element.isNamed("circle") || element.isNamed("ellipse") {
            for name: StaticString in ["r", "rx", "ry"] { longestSide = max(longestSide, element.number(name, 0) * 2) }
        } else if element.isNamed("include") {
            try check(inclusion: element)
        } else if element.localName.starts(with: "fe".utf8) {
            try noteStep(element)
        }
        if element.isNamed("image") || element.isNamed("feImage") { try noteImage(element, depth: depth) }
    }

    private mutating func noteStep(_ element: SVGScanner) throws(ImageDecodingError) {
        finestGrid = min(finestGrid, element.smallest("kernelUnitLength"))
        if element.isNamed("feTurbulence") {
            pixelWork += max(1, element.number("numOctaves", 1))
        } else if element.isNamed("feMorphology") {
            radii += max(0, element.number("radius", 0))
        } else if element.isNamed("feConvolveMatrix") {
            let sides = element.numbers("order")
            let area = max(1, sides.first ?? 3) * max(1, sides.last ?? 3)
            guard area <= Self.kernelCount else {
                throw .limitExceeded("a kernel of \(area) numbers; it may have 400", codec: ImageDecoders.SVG.codec)
            }
            pixelWork += area / 5
        }
    }

    private mutating func notePattern(_ element: SVGScanner) throws(ImageDecodingError) {
        let scale = try Self.scale(of: element.value(of: "patternTransform"))
        let area = max(0, element.number("width", 0)) * max(0, element.number("height", 0)) * scale * scale
        if element.value(of: "patternUnits")?.elementsEqual("userSpaceOnUse".utf8) == true {
            tileArea = max(tileArea, area)
        } else {
            tilePart = max(tilePart, area)
        }
    }

    private mutating func noteImage(_ element: SVGScanner, depth: Int) throws(ImageDecodingError) {
        guard let address = element.reference, let image = try SVGEmbeddedImage(address) else { return }
        switch try image.content() {
        case .pixels(let count): embeddedPixels = max(embeddedPixels, count)
        case .document(let data):
            guard depth < Self.embeddingDepth else {
                throw .limitExceeded("documents within documents, too deep", codec: ImageDecoders.SVG.codec)
            }
            var inner = SVGSurvey()
            guard let root = try inner.read(SVGScanner(data), depth: depth + 1) else { return }
            let told = try SVGSize(root: root)
            // It is drawn at its own size, into pixels.
            let area = told.size.width * told.size.height
            let unit = max(told.size.width / told.viewBox.width, told.size.height / told.viewBox.height)
            embeddedPixels = max(embeddedPixels, area + inner.layerBytes(told.size, pixelsPerUnit: unit) / 8)
            pixelWork += inner.filterWork(pixelsPerUnit: unit) * max(1, area / 1e6)
            hasText = hasText || inner.hasText
        }
    }

    /// A document that is put in place of an element is not looked over.
    private func check(inclusion element: SVGScanner) throws(ImageDecodingError) {
        guard let address = element.reference, try SVGEmbeddedImage(address) != nil else { return }
        throw .unsupported("XInclude of data in its address", codec: ImageDecoders.SVG.codec)
    }

    /// Entities may hold elements, which are not counted: those that make work can't be let pass there.
    private func check(subset: ArraySlice<UInt8>) throws(ImageDecodingError) {
        guard !subset.isEmpty else { return }
        let text = Self.withoutNumberedReferences(subset)
        if Self.hidden.contains(where: { text[...].contains($0) }) {
            throw .limitExceeded(
                "its document type has elements whose work can't be told", codec: ImageDecoders.SVG.codec)
        }
    }

    /// The text with references to characters by number replaced by these.
    static func withoutNumberedReferences(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var rest = text
        while let byte = rest.first {
            guard byte == UInt8(ascii: "&"), rest.starts(with: "&#".utf8),
                let end = rest.prefix(12).firstIndex(of: UInt8(ascii: ";"))
            else {
                result.append(byte)
                rest = rest.dropFirst()
                continue
            }
            let digits = String(decoding: rest[(rest.startIndex + 2)..<end], as: UTF8.self)
            let code = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
            result.append(code.flatMap { UInt8(exactly: $0) } ?? 0x7F)
            rest = rest[(end + 1)...]
        }
        return result
    }

    /// How much a list of transforms enlarges, at most; what it makes smaller counts as that.
    ///
    /// Throws for numbers that are beyond what cairo can work with: it ends the process, with masks at least.
    private static func scale(of list: ArraySlice<UInt8>?) throws(ImageDecodingError) -> Double {
        guard let list else { return 1 }
        var scale = 1.0
        for step in list.split(separator: UInt8(ascii: ")")) {
            guard let open = step.firstIndex(of: UInt8(ascii: "(")) else { continue }
            let numbers = SVGSize.leadingNumbers(in: step[(open + 1)...])
            guard numbers.allSatisfy({ abs($0) < largestNumber }) else {
                throw .limitExceeded("a transform by numbers that are too large", codec: ImageDecoders.SVG.codec)
            }
            let name = step[..<open]
            if name.contains(Array("scale".utf8)) {
                scale *= numbers.map(abs).max() ?? 1
            } else if name.contains(Array("matrix".utf8)), numbers.count >= 4 {
                scale *= numbers[..<4].map(abs).max() ?? 1
            }
        }
        return scale
    }
}

extension SVGScanner {
    /// Whether the last start tag has this local name.
    fileprivate func isNamed(_ name: StaticString) -> Bool { localName.elementsEqual(name.description.utf8) }

    /// The numbers of an attribute; infinite where an entity stands, which could be anything.
    fileprivate func numbers(_ name: StaticString) -> [Double] {
        guard let value = value(of: name) else { return [] }
        if value.contains(UInt8(ascii: "&")) { return [.infinity] }
        return SVGSize.leadingNumbers(in: value)
    }

    fileprivate func number(_ name: StaticString, _ standard: Double) -> Double { numbers(name).max() ?? standard }

    fileprivate func smallest(_ name: StaticString) -> Double {
        let numbers = numbers(name)
        // What is not above 0, or can't be told, is as fine as can be.
        return numbers.contains { $0 <= 0 || $0.isInfinite } ? .leastNonzeroMagnitude : numbers.min() ?? .infinity
    }

    /// The value of `href`, of any namespace.
    fileprivate var reference: ArraySlice<UInt8>? {
        attributes.first { attribute in
            let name = bytes[attribute.name]
            return name.elementsEqual("href".utf8) || name.suffix(5).elementsEqual(":href".utf8)
        }.map { bytes[$0.value] }
    }
}

extension ArraySlice<UInt8> {
    /// Whether these bytes stand in it somewhere.
    fileprivate func contains(_ other: [UInt8]) -> Bool {
        var rest = self
        while let start = rest.firstIndex(of: other[0]) {
            rest = rest[start...]
            if rest.starts(with: other) { return true }
            rest = rest.dropFirst()
        }
        return false
    }
}
