internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A document with what a look over it tells: how large it is, and how much work it may make.
struct SVGPicture: Sendable {
    /// The document, decompressed.
    let text: Data
    /// The size that it gives itself, in pixels at a scale of 1.
    let size: ImageSize
    /// Whether there is text to be drawn.
    let hasText: Bool

    /// Layers of noise, of all filters.
    private let octaves: Double
    /// Radii of what grows and shrinks shapes, of all filters, in units of the document.
    private let radii: Double
    /// Pixels that a unit of the document has at the picture's own size.
    private let unit: Double
    /// How deep elements stand in one another that need a layer of pixels of their own.
    private let layers: Int

    /// What filters may do together: layers of noise and radii, times a million pixels.
    private static let filterWork = 50.0

    /// Looks over a document.
    ///
    /// - Parameters:
    ///   - data: All of the file.
    ///   - limit: Bytes that it may have, compressed and decompressed.
    init(_ data: Data, limit: Int, library: SVGLibrary?) throws(ImageDecodingError) {
        let codec = ImageDecoders.SVG.codec
        guard data.count <= limit else {
            throw .limitExceeded("\(data.count) bytes; a document may have \(limit)", codec: codec)
        }
        if SVGSniffer.isCompressed(data) {
            let library = library ?? .shared
            if let defect = library.defect { throw .missingCodec(defect, codec: codec) }
            text = try library.inflate(data, limit: limit, isPrefix: false)
        } else {
            text = data
        }
        var survey = Survey()
        guard let root = try survey.read(SVGScanner(text)) else {
            throw .corruptData("there is no element svg at its root", codec: codec)
        }
        guard let told = SVGSize(root: root) else { throw .corruptData("its width or height is 0", codec: codec) }
        size = told.size
        unit = min(told.size.width / told.viewBox.width, told.size.height / told.viewBox.height)
        hasText = survey.hasText
        octaves = survey.octaves
        radii = survey.radii
        layers = survey.deepest
    }

    /// The size in pixels at a scale, rounded up as librsvg's own program does, lest anything be cut off.
    func pixelSize(scale: Double) -> ImageSize {
        func side(_ length: Double) -> Double { min(1e9, max(1, (length * scale - 1e-6).rounded(.up))) }
        return ImageSize(width: side(size.width), height: side(size.height))
    }

    /// Throws if drawing at a size would be too much, by the limits or by what the filters do.
    func check(width: Int, height: Int, _ limits: ImageLimits) throws(ImageDecodingError) {
        let codec = ImageDecoders.SVG.codec
        // The greatest side that cairo's images have.
        guard width <= 32_767, height <= 32_767 else {
            throw .limitExceeded("\(width)x\(height) pixels; a side may have 32767 where shapes are drawn", codec: codec)
        }
        // A layer has the size of the picture, which is now known to be small enough for this not to overflow.
        let bytes = width * height * 4
        try limits.check(
            width: width, height: height, decodedBytes: bytes, codecBytes: layers > 0 ? layers * bytes : 0, codec: codec)
        let scale = max(Double(width) / size.width, Double(height) / size.height)
        let work = (octaves + radii * unit * scale) * Double(width * height) / 1e6
        guard work <= Self.filterWork else {
            throw .limitExceeded("its filters are too much work for \(width)x\(height) pixels", codec: codec)
        }
    }

    /// Bytes that drawing at a size holds: the pixels, layers of the same size, and the elements.
    func workingSet(width: Double, height: Double) -> Int {
        let pixels = min(width * height, 1e15) * 4 * Double(1 + min(layers, 256))
        return Int(pixels) + text.count * 32
    }
}

/// Sums up what the elements of a document ask for.
private struct Survey {
    var octaves = 0.0
    var radii = 0.0
    var hasText = false
    var deepest = 0

    /// Properties that have an element drawn on a layer of its own.
    private static let layerWords = ["opacity", "filter", "mask", "mix-blend-mode", "isolation", "clip-path"]
        .map { Array($0.utf8) }
    private static let hidden = ["feTurbulence", "feMorphology"].map { Array($0.utf8) }

    /// Reads to the end; gives the scanner as it is at the root, or nil if that is something else.
    mutating func read(_ start: SVGScanner) throws(ImageDecodingError) -> SVGScanner? {
        var scanner = start
        var root: SVGScanner?
        var open: [Bool] = []
        var depth = 0
        while true {
            switch scanner.next() {
            case .end: return root
            case .subset(let range): try check(subset: scanner.bytes[range])
            case .endTag:
                if open.popLast() == true { depth -= 1 }
            case .startTag:
                if root == nil {
                    guard scanner.localName.elementsEqual("svg".utf8) else { return nil }
                    root = scanner
                }
                note(scanner)
                let isLayer = needsLayer(scanner)
                deepest = max(deepest, depth + (isLayer ? 1 : 0))
                if !scanner.isEmptyElement {
                    open.append(isLayer)
                    depth += isLayer ? 1 : 0
                }
            }
        }
    }

    private mutating func note(_ element: SVGScanner) {
        let name = element.localName
        if name.elementsEqual("feTurbulence".utf8) {
            octaves += number(element.value(of: "numOctaves"), default: 1).max() ?? 1
        } else if name.elementsEqual("feMorphology".utf8) {
            radii += number(element.value(of: "radius"), default: 0).max() ?? 0
        } else if name.elementsEqual("text".utf8) {
            hasText = true
        }
    }

    /// The numbers of an attribute; infinite if an entity stands there, which could be anything.
    private func number(_ value: ArraySlice<UInt8>?, default: Double) -> [Double] {
        guard let value else { return [`default`] }
        if value.contains(UInt8(ascii: "&")) { return [.infinity] }
        let numbers = SVGSize.numbers(in: value)
        return numbers.isEmpty ? [`default`] : numbers.map { max($0, `default`) }
    }

    private func needsLayer(_ element: SVGScanner) -> Bool {
        element.attributes.contains { attribute in
            let name = element.bytes[attribute.name]
            if Self.layerWords.contains(where: { name.elementsEqual($0) }) { return true }
            guard name.elementsEqual("style".utf8) else { return false }
            let style = element.bytes[attribute.value]
            return Self.layerWords.contains { style.contains($0) }
        }
    }

    /// Entities may hold elements, which are not counted: those that make work can't be let pass there.
    private func check(subset: ArraySlice<UInt8>) throws(ImageDecodingError) {
        guard !subset.isEmpty else { return }
        let text = Self.withoutReferences(subset)
        if Self.hidden.contains(where: { text[...].contains($0) }) {
            throw .limitExceeded("its document type has filters whose work can't be told", codec: ImageDecoders.SVG.codec)
        }
    }

    /// The text with references to characters by number replaced by these.
    private static func withoutReferences(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var rest = text
        while let byte = rest.first {
            guard rest.starts(with: "&#".utf8), let end = rest.prefix(12).firstIndex(of: UInt8(ascii: ";")) else {
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
