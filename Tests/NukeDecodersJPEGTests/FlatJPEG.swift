import FoundationEssentials

extension JPEGFile {
    /// One component: how many blocks wide and tall it is, and the stored sample of each block, row by row.
    struct Component {
        let columns: Int
        let rows: Int
        let samples: [UInt8]
    }

    /// A file of 8x8 pixels of one colour, given as the stored sample of each component.
    ///
    /// Baseline with one scan, or progressive with one scan for each component. `adobe` is the colour transform that an
    /// Adobe segment tells; without it there is none.
    static func flat(_ samples: [UInt8], adobe: UInt8? = nil, isProgressive: Bool = false) -> JPEGFile {
        let components = samples.map { Component(columns: 1, rows: 1, samples: [$0]) }
        let scans = isProgressive ? samples.indices.map { [$0] } : [Array(samples.indices)]
        return blocks(components, scans: scans, adobe: adobe, isProgressive: isProgressive)
    }

    /// A file of flat blocks, as large as the component with the most of them needs: the sampling factors are the
    /// components' sides.
    ///
    /// With scans of the components told, all in one by default; progressive files hold the means alone.
    static func blocks(
        _ components: [Component], scans: [[Int]]? = nil, adobe: UInt8? = nil, isProgressive: Bool = false
    ) -> JPEGFile {
        var file = JPEGFile(Data())
        if let adobe {
            file.segments.append(Segment(marker: 0xEE, content: Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, adobe]))
        }
        // All steps are 8, so that the first coefficient, the mean times 8, is the sample less 128.
        file.segments.append(Segment(marker: 0xDB, content: [0] + Array(repeating: 8, count: 64)))
        let width = components.map(\.columns).max() ?? 0
        let height = components.map(\.rows).max() ?? 0
        let entries = components.enumerated().flatMap { index, component -> [UInt8] in
            [UInt8(index + 1), UInt8(component.columns << 4 | component.rows), 0]
        }
        let header = [8, 0, UInt8(height * 8), 0, UInt8(width * 8), UInt8(components.count)]
        file.segments.append(Segment(marker: isProgressive ? 0xC2 : 0xC0, content: header + entries))
        file.segments += codes
        for scan in scans ?? [Array(components.indices)] {
            let selectors = scan.flatMap { index -> [UInt8] in [UInt8(index + 1), 0] }
            let bits = scan.flatMap { means(components[$0].samples, hasEnds: !isProgressive) }
            file.segments.append(
                Segment(
                    marker: startOfScan, content: [UInt8(scan.count)] + selectors + [0, isProgressive ? 0 : 63, 0],
                    tail: coded(bits)))
        }
        return file
    }

    /// Codes of four bits for the sizes 0…11 of differences; one of one bit, for "nothing more in this block".
    static var codes: [Segment] {
        let sizes: [UInt8] = [0, 0, 0, 12] + Array(repeating: 0, count: 12)
        return [
            Segment(marker: 0xC4, content: [0x00] + sizes + Array(UInt8(0)...11)),
            Segment(marker: 0xC4, content: [0x10, 1] + Array(repeating: 0, count: 15) + [0]),
        ]
    }

    /// The means of blocks that follow one another, each as its difference from the one before.
    private static func means(_ samples: [UInt8], hasEnds: Bool) -> [Bool] {
        var bits: [Bool] = []
        var last = 128
        for sample in samples {
            let value = Int(sample) - last
            last = Int(sample)
            let size = Int.bitWidth - abs(value).leadingZeroBitCount
            let coded = value < 0 ? value + (1 << size) - 1 : value
            for place in (0..<4).reversed() { bits.append(size >> place & 1 == 1) }
            for place in (0..<size).reversed() { bits.append(coded >> place & 1 == 1) }
            if hasEnds { bits.append(false) }
        }
        return bits
    }

    /// Bits as bytes of a scan, filled up with ones.
    static func coded(_ bits: [Bool]) -> [UInt8] {
        let filled = bits + Array(repeating: true, count: (8 - bits.count % 8) % 8)
        return stride(from: 0, to: filled.count, by: 8).flatMap { start -> [UInt8] in
            let byte = filled[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
            return byte == 0xFF ? [byte, 0] : [byte]
        }
    }
}
