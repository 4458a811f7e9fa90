/// Chooses the colours that serve for many: the box of colours whose cut helps most is cut until there are enough, and then
/// every colour moves to the middle of those that are nearest to it, until that hardly helps (k-means).
struct GIFQuantizer {
    /// Rounds of moving at most.
    private static let roundLimit = 12
    /// What a round has to better the error by, or it is the last.
    private static let leastGain = 0.003

    private var counts = GIFColorCounts()

    /// Colours for a picture, and the mean of the squared distances of its pixels to them.
    struct Choice {
        let palette: GIFPalette
        let error: Double
    }

    /// A palette of at most `limit` colours, from 1 to 256: all colours of the pixels, if they are so few.
    ///
    /// If `given` serves the pixels with an error of at most `tolerated`, or as well as one of their own, it is the choice.
    ///
    /// - Parameter pixels: In the form of `GIFPicture`.
    mutating func choice(
        for pixels: [UInt32], limit: Int, given: GIFPalette? = nil, tolerated: Double = 0
    ) -> Choice {
        counts.count(pixels)
        if counts.isExact, counts.cells.count <= limit {
            let colors = counts.cells.map { $0.key | 0xFF00_0000 }
            if let given, colors.allSatisfy({ given.index(of: $0) != nil }) { return Choice(palette: given, error: 0) }
            return Choice(palette: GIFPalette(colors.isEmpty ? [0xFF00_0000] : colors), error: 0)
        }
        var cells = counts.cells
        let givenError = given.map { Self.assign(cells, to: $0).error }
        if let given, let givenError, givenError <= tolerated { return Choice(palette: given, error: givenError) }
        var palette = GIFPalette(Self.cut(&cells, limit: limit))
        var (sums, error) = Self.assign(cells, to: palette)
        for _ in 0..<Self.roundLimit {
            let moved = GIFPalette(
                zip(sums, palette.colors).map { sum, color in sum[3] > 0 ? Self.mean(of: sum) : color })
            let next = Self.assign(cells, to: moved)
            guard next.error < error else { break }
            let isLast = next.error > error * (1 - Self.leastGain)
            (palette, sums, error) = (moved, next.sums, next.error)
            if isLast { break }
        }
        if let given, let givenError, givenError <= error { return Choice(palette: given, error: givenError) }
        return Choice(palette: palette, error: error)
    }

    private static func mean(of sums: SIMD4<Double>) -> UInt32 {
        let mean = ((sums / sums[3]) + 0.5).rounded(.down)
        return UInt32(mean[0]) | UInt32(mean[1]) << 8 | UInt32(mean[2]) << 16 | 0xFF00_0000
    }

    /// The sums of the cells that are nearest to each colour, and the mean of the squared distances.
    private static func assign(
        _ cells: [GIFColorCounts.Cell], to palette: GIFPalette
    ) -> (sums: [SIMD4<Double>], error: Double) {
        var sums = [SIMD4<Double>](repeating: SIMD4(), count: palette.colors.count)
        var (error, count) = (0.0, 0.0)
        for cell in cells {
            let color = mean(of: cell.sums)
            let (index, distance) = palette.nearest(
                red: Int32(color & 255), green: Int32(color >> 8 & 255), blue: Int32(color >> 16 & 255))
            sums[index] += cell.sums
            error += Double(distance) * cell.sums[3]
            count += cell.sums[3]
        }
        return (sums, count > 0 ? error / count : 0)
    }

    // MARK: - Cutting

    /// Some of the cells, which lie near one another.
    private struct Box {
        let range: Range<Int>
        let sums: SIMD4<Double>
        /// The best place to cut it; nil if all cells have one key.
        let cut: Cut?

        var gain: Double { cut?.gain ?? 0 }
    }

    private struct Cut {
        /// How much the sum of squared distances to the middle falls.
        let gain: Double
        /// The shift of the sample of a key.
        let axis: UInt32
        /// Cells below it go to the first half.
        let place: Int
    }

    /// The middles of the boxes; orders the cells by box.
    private static func cut(_ cells: inout [GIFColorCounts.Cell], limit: Int) -> [UInt32] {
        var boxes = [box(cells, cells.indices)]
        while boxes.count < limit {
            var best = 0
            for index in boxes.indices where boxes[index].gain > boxes[best].gain { best = index }
            guard let cut = boxes[best].cut else { break }
            let range = boxes[best].range
            let middle = partition(&cells, range, by: cut)
            boxes[best] = box(cells, range.lowerBound..<middle)
            boxes.append(box(cells, middle..<range.upperBound))
        }
        return boxes.map { mean(of: $0.sums) }
    }

    /// Brings the cells of the first half before those of the second, and tells where these begin.
    private static func partition(_ cells: inout [GIFColorCounts.Cell], _ range: Range<Int>, by cut: Cut) -> Int {
        var middle = range.lowerBound
        for index in range where cells[index].sample(cut.axis) < cut.place {
            cells.swapAt(index, middle)
            middle += 1
        }
        return middle
    }

    private static func box(_ cells: [GIFColorCounts.Cell], _ range: Range<Int>) -> Box {
        var sums = SIMD4<Double>()
        var bins = [SIMD4<Double>](repeating: SIMD4(), count: 3 * 256)
        for cell in cells[range] {
            sums += cell.sums
            for axis in 0..<3 { bins[axis * 256 + cell.sample(UInt32(axis) * 8)] += cell.sums }
        }
        let whole = spread(sums)
        var best: Cut?
        for axis in 0..<3 {
            var below = SIMD4<Double>()
            for place in 1..<256 {
                below += bins[axis * 256 + place - 1]
                let above = sums - below
                guard below[3] > 0 else { continue }
                guard above[3] > 0.5 else { break }
                let gain = spread(below) + spread(above) - whole
                if gain > best?.gain ?? 0 { best = Cut(gain: gain, axis: UInt32(axis) * 8, place: place) }
            }
        }
        return Box(range: range, sums: sums, cut: best)
    }

    /// The squared length of the sum of colours, by their number: what is subtracted from the sum of squares for the error.
    private static func spread(_ sums: SIMD4<Double>) -> Double {
        (sums[0] * sums[0] + sums[1] * sums[1] + sums[2] * sums[2]) / sums[3]
    }
}
