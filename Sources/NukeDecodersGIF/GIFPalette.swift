/// Up to 256 colours, in rising order of their sum of red, green and blue, by which the nearest is found.
struct GIFPalette {
    /// Red in the lowest 8 bits, green, blue, and 255 in the highest.
    let colors: [UInt32]
    private let entries: [Entry]
    /// For each sum the first entry that has it or more.
    private let starts: [UInt8]

    private struct Entry {
        let color: SIMD4<Int32>
        var sum: Int32 { color[3] }

        /// The sum stands in place of the alpha.
        init(_ color: UInt32) {
            let (red, green, blue) = (Int32(color & 255), Int32(color >> 8 & 255), Int32(color >> 16 & 255))
            self.color = SIMD4(red, green, blue, red + green + blue)
        }
    }

    /// Creates a palette of the different colours among 1 to 256.
    init(_ colors: some Sequence<UInt32>) {
        var entries = colors.map { Entry($0) }
        entries.sort { a, b in
            (a.sum, a.color[0], a.color[1], a.color[2]) < (b.sum, b.color[0], b.color[1], b.color[2])
        }
        var unique: [Entry] = []
        for entry in entries where unique.last?.color != entry.color { unique.append(entry) }
        self.entries = unique
        self.colors = unique.map {
            UInt32($0.color[0]) | UInt32($0.color[1]) << 8 | UInt32($0.color[2]) << 16 | 0xFF00_0000
        }
        var (starts, place) = ([UInt8](), 0)
        for sum in Int32(0)...765 {
            while place < unique.count - 1, unique[place].sum < sum { place += 1 }
            starts.append(UInt8(place))
        }
        self.starts = starts
    }

    /// The colour nearest to one whose samples are 0…255, by the sum of squares, and how far it is.
    ///
    /// A third of the square of the sums' difference is at most the distance: so the search goes from the colours of about the
    /// same sum both ways, as far as that is below the best.
    func nearest(red: Int32, green: Int32, blue: Int32) -> (index: Int, distance: Int32) {
        let sum = red + green + blue
        let start = Int(starts[Int(sum)])
        var (best, bestIndex) = (Int32.max, 0)
        // SAFETY: indices are checked against the count before each use.
        unsafe entries.withUnsafeBufferPointer { entries in
            func isWorthwhile(_ index: Int) -> Bool {
                let color = unsafe entries[index].color
                let gap = color[3] &- sum
                if gap &* gap >= 3 &* best { return false }
                let (r, g, b) = (color[0] &- red, color[1] &- green, color[2] &- blue)
                let distance = r &* r &+ g &* g &+ b &* b
                if distance < best { (best, bestIndex) = (distance, index) }
                return true
            }
            var (up, down) = (start, start - 1)
            // Three times Int32.max would not fit.
            best = Int32.max / 4
            while up < entries.count || down >= 0 {
                if up < entries.count { up = isWorthwhile(up) ? up + 1 : entries.count }
                if down >= 0 { down = isWorthwhile(down) ? down - 1 : -1 }
            }
        }
        return (bestIndex, best)
    }

    /// The colour's index, if the palette has it.
    func index(of color: UInt32) -> Int? {
        let found = nearest(color)
        return colors[found] == color ? found : nil
    }

    /// The index of the colour nearest to a pixel.
    func nearest(_ pixel: UInt32) -> Int {
        nearest(red: Int32(pixel & 255), green: Int32(pixel >> 8 & 255), blue: Int32(pixel >> 16 & 255)).index
    }
}
