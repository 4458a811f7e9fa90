import FoundationEssentials

extension JPEGFile {
    /// A file of 8x8 pixels of one colour, given as the stored sample of each component.
    ///
    /// Baseline with one scan, or progressive with one scan for each component. `adobe` is the colour transform that an
    /// Adobe segment tells; without it there is none.
    static func flat(_ samples: [UInt8], adobe: UInt8? = nil, isProgressive: Bool = false) -> JPEGFile {
        let numbers = samples.indices.map { UInt8($0 + 1) }
        var file = JPEGFile(Data())
        if let adobe {
            file.segments.append(Segment(marker: 0xEE, content: Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, adobe]))
        }
        // All steps are 8, so that the first coefficient, the mean times 8, is the sample less 128.
        file.segments.append(Segment(marker: 0xDB, content: [0] + Array(repeating: 8, count: 64)))
        let components = numbers.flatMap { number -> [UInt8] in [number, 0x11, 0] }
        file.segments.append(
            Segment(
                marker: isProgressive ? 0xC2 : 0xC0, content: [8, 0, 8, 0, 8, UInt8(samples.count)] + components))
        // Codes of four bits for the sizes 0…11 of differences; one of one bit, for "nothing more in this block".
        let sizes: [UInt8] = [0, 0, 0, 12] + Array(repeating: 0, count: 12)
        file.segments.append(Segment(marker: 0xC4, content: [0x00] + sizes + Array(UInt8(0)...11)))
        file.segments.append(Segment(marker: 0xC4, content: [0x10, 1] + Array(repeating: 0, count: 15) + [0]))
        if isProgressive {
            for (number, sample) in zip(numbers, samples) {
                let scan = Segment(
                    marker: startOfScan, content: [1, number, 0, 0, 0, 0], tail: coded([sample], hasEnds: false))
                file.segments.append(scan)
            }
        } else {
            let selectors = numbers.flatMap { number -> [UInt8] in [number, 0] }
            let header = [UInt8(samples.count)] + selectors + [0, 63, 0]
            file.segments.append(
                Segment(marker: startOfScan, content: header, tail: coded(samples, hasEnds: true)))
        }
        return file
    }

    /// One block for each sample, with the mean alone.
    private static func coded(_ samples: [UInt8], hasEnds: Bool) -> [UInt8] {
        var bits: [Bool] = []
        for sample in samples {
            let value = Int(sample) - 128
            let size = Int.bitWidth - abs(value).leadingZeroBitCount
            let coded = value < 0 ? value + (1 << size) - 1 : value
            for place in (0..<4).reversed() { bits.append(size >> place & 1 == 1) }
            for place in (0..<size).reversed() { bits.append(coded >> place & 1 == 1) }
            if hasEnds { bits.append(false) }
        }
        while bits.count % 8 != 0 { bits.append(true) }
        return stride(from: 0, to: bits.count, by: 8).flatMap { start -> [UInt8] in
            let byte = bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
            return byte == 0xFF ? [byte, 0] : [byte]
        }
    }
}
