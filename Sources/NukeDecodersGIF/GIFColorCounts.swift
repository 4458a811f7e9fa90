/// How often colours occur: each for itself while they are few, else those that share the upper six bits of their samples.
struct GIFColorCounts {
    /// What is known of a colour, or of those in one cell.
    struct Cell {
        /// Red in the lowest 8 bits, green and blue; without the lower two bits of each where many share it.
        let key: UInt32
        /// The sums of red, green and blue, and how many pixels there are.
        var sums: SIMD4<Double>

        /// The eight bits of a sample, by their shift.
        func sample(_ shift: UInt32) -> Int { Int(key >> shift & 255) }
    }

    /// Colours that are counted each for itself.
    private static let exactLimit = 4096

    /// The cells with any pixels, in the order in which they came.
    private(set) var cells: [Cell] = []
    /// Whether every cell is one colour.
    private(set) var isExact = true

    /// The places in `cells`, counted from 1; 0 if there is none: by hash with open addressing, or by the eighteen bits.
    private var places: [Int32] = []

    private static let slotBits: UInt32 = 14

    /// Forgets all colours and counts those of pixels, but not where there is nothing.
    mutating func count(_ pixels: [UInt32]) {
        cells.removeAll(keepingCapacity: true)
        isExact = countColors(pixels)
        if isExact { return }
        cells.removeAll(keepingCapacity: true)
        places = [Int32](repeating: 0, count: 1 << 18)
        for pixel in pixels where pixel != 0 {
            let (red, green, blue) = (pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255)
            let bits = Int(red >> 2 | (green >> 2) << 6 | (blue >> 2) << 12)
            if places[bits] == 0 {
                cells.append(Cell(key: pixel & 0xFC_FCFC, sums: SIMD4()))
                places[bits] = Int32(cells.count)
            }
            cells[Int(places[bits]) - 1].sums += SIMD4(Double(red), Double(green), Double(blue), 1)
        }
    }

    /// False as soon as there are too many colours.
    private mutating func countColors(_ pixels: [UInt32]) -> Bool {
        places = [Int32](repeating: 0, count: 1 << Int(Self.slotBits))
        var (last, place, run) = (UInt32(0), 0, 0.0)
        for pixel in pixels where pixel != 0 {
            if pixel == last {
                run += 1
                continue
            }
            if run > 0 { add(run, of: last, at: place) }
            (last, run) = (pixel, 1)
            var slot = Int((pixel &* 0x9E37_79B1) >> (32 - Self.slotBits))
            while places[slot] != 0, cells[Int(places[slot]) - 1].key != pixel & 0xFF_FFFF {
                slot = (slot + 1) & (places.count - 1)
            }
            if places[slot] == 0 {
                guard cells.count < Self.exactLimit else { return false }
                cells.append(Cell(key: pixel & 0xFF_FFFF, sums: SIMD4()))
                places[slot] = Int32(cells.count)
            }
            place = Int(places[slot]) - 1
        }
        if run > 0 { add(run, of: last, at: place) }
        return true
    }

    private mutating func add(_ count: Double, of pixel: UInt32, at place: Int) {
        let color = SIMD4(Double(pixel & 255), Double(pixel >> 8 & 255), Double(pixel >> 16 & 255), 1)
        cells[place].sums += color * count
    }
}
