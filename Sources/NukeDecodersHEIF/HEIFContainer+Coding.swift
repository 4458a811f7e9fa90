internal import NukeCore

extension HEIFContainer {
    /// Pictures of which pictures are made, one within the other: more than any writer nests.
    private static let depthLimit = 6

    /// Throws if pictures are made of one another without end, which libheif 1.15 follows until the stack is full.
    func checkNesting(codec: String) throws(ImageDecodingError) {
        guard links.count < Self.limit else {
            throw .limitExceeded("pictures refer to one another \(links.count) times and more", codec: codec)
        }
        let parts = parts
        var depths: [Int: Int] = [:]
        func depth(of item: Int, below level: Int) throws(ImageDecodingError) -> Int {
            if let known = depths[item] { return known }
            guard level < Self.depthLimit else {
                throw .unsupported("pictures are made of one another, \(level) deep and more", codec: codec)
            }
            var deepest = 0
            for part in parts[item] ?? [] { deepest = max(deepest, try depth(of: part, below: level + 1) + 1) }
            depths[item] = deepest
            return deepest
        }
        for item in parts.keys.sorted() where try depth(of: item, below: 0) > Self.depthLimit {
            throw .unsupported("pictures are made of one another, too deep", codec: codec)
        }
    }

    /// The items that each item is made of, and those that belong to it, such as its alpha.
    fileprivate var parts: [Int: [Int]] {
        var parts: [Int: [Int]] = [:]
        for link in links {
            switch link.type {
            case "dimg": parts[link.from, default: []].append(link.to)
            case "auxl": parts[link.to, default: []].append(link.from)
            default: continue
            }
        }
        return parts
    }

    /// Throws unless everything that is decoded for a picture is within the limits, by what the coded pictures themselves say.
    ///
    /// A container can tell of 64×64 pixels and hold a picture of thousands, which codecs decode all the same; it can also name
    /// one tile ten thousand times, or pictures that are made of one another.
    func check(
        _ limits: ImageLimits, isThumbnail: Bool, codec: String, _ bytes: RawSpan
    ) throws(ImageDecodingError) {
        var costs = CodedCosts(self, limits, codec: codec)
        for item in isThumbnail ? thumbnails.sorted() : [primary] {
            let pixels = try costs.cost(of: item, bytes)
            // Tiles go beyond the picture's edges, and alpha and gain maps are pictures as well.
            guard pixels / 4 <= limits.pixelCount else {
                throw .limitExceeded(
                    "\(pixels) pixels are to be decoded; a picture may have \(limits.pixelCount)", codec: codec)
            }
        }
    }
}

/// How many pixels codecs have to decode for items.
private struct CodedCosts {
    /// By how much coded sides may go beyond those of the picture: a block of HEVC or AV1.
    private static let blockSide = 64

    private let container: HEIFContainer
    private let limits: ImageLimits
    private let codec: String
    private let parts: [Int: [Int]]
    private var known: [Int: Int] = [:]

    init(_ container: HEIFContainer, _ limits: ImageLimits, codec: String) {
        self.container = container
        self.limits = limits
        self.codec = codec
        parts = container.parts
    }

    /// Pixels of an item and of all that it is made of, each as often as it is named; the nesting was checked before.
    mutating func cost(of item: Int, _ bytes: RawSpan) throws(ImageDecodingError) -> Int {
        if let cost = known[item] { return cost }
        var total = try codedPixels(of: item, bytes)
        for part in parts[item] ?? [] {
            let (sum, overflow) = total.addingReportingOverflow(try cost(of: part, bytes))
            total = overflow ? .max : sum
        }
        known[item] = total
        return total
    }

    /// Pixels of the largest picture that an item's own bytes tell of; 0 if it holds none.
    private func codedPixels(of item: Int, _ bytes: RawSpan) throws(ImageDecodingError) -> Int {
        var pixels = try canvasPixels(of: item, bytes)
        for property in container.properties.properties(of: item) {
            let isHEVC = property.type == "hvcC"
            guard isHEVC || property.type == "av1C" else { continue }
            let configuration = bytes.extracting(property.contents)
            var sizes = isHEVC ? HEVCSize.configured(configuration) : AV1Size.sizes(in: configuration, from: 4)
            let lengthSize = isHEVC && configuration.byteCount > 21 ? Int(configuration.byte(at: 21) & 3) + 1 : 4
            let extents = container.extents[item] ?? []
            if extents.count == 1, extents[0].upperBound <= bytes.byteCount {
                let data = bytes.extracting(extents[0])
                sizes += isHEVC ? HEVCSize.sizes(in: data, lengthSize) : AV1Size.sizes(in: data, from: 0)
            } else {
                // SAFETY: the span of the bytes is used while they are there.
                let copy = try joined(extents, bytes)
                let data = unsafe copy.span.bytes
                sizes += isHEVC ? HEVCSize.sizes(in: data, lengthSize) : AV1Size.sizes(in: data, from: 0)
            }
            for size in sizes { pixels = max(pixels, try check(size)) }
        }
        return pixels
    }

    /// Pixels of the canvas that an item puts others on, by its own word, which need not be that of its properties.
    private func canvasPixels(of item: Int, _ bytes: RawSpan) throws(ImageDecodingError) -> Int {
        guard let offsets = container.canvasOffsets[item] else { return 0 }
        let data = try joined(container.extents[item] ?? [], bytes)
        guard data.count > 2 else { return 0 }
        // The lowest flag says that numbers have 32 bits.
        let count = data[1] & 1 == 1 ? 4 : 2
        func number(at place: Int) -> Int { data[place..<place + count].reduce(0) { $0 << 8 | Int($1) } }
        var pixels = 0
        for offset in offsets where data.count >= offset + 2 * count {
            pixels = max(pixels, try check(CodedSize(width: number(at: offset), height: number(at: offset + count))))
        }
        return pixels
    }

    /// The pixels of a size that is within the limits, but for what pads it.
    private func check(_ size: CodedSize) throws(ImageDecodingError) -> Int {
        try limits.check(
            width: max(1, size.width - Self.blockSide), height: max(1, size.height - Self.blockSide), decodedBytes: 0,
            codec: codec)
        let (pixels, overflow) = size.width.multipliedReportingOverflow(by: size.height)
        return overflow ? .max : pixels
    }

    /// What an item has in several pieces.
    private func joined(_ extents: [Range<Int>], _ bytes: RawSpan) throws(ImageDecodingError) -> [UInt8] {
        var joined: [UInt8] = []
        for extent in extents where extent.upperBound <= bytes.byteCount {
            guard joined.count + extent.count <= bytes.byteCount else {
                throw .corruptData("an item has more bytes than the file", codec: codec)
            }
            for offset in extent { joined.append(bytes.byte(at: offset)) }
        }
        return joined
    }
}
