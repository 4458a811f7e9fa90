extension GIFFile {
    /// A file of small frames, placed, disposed of and stored in any way.
    static func random(_ random: inout SeededGenerator, frameCount: Int) -> GIFFile {
        var file = GIFFile(6, 5, [])
        for _ in 0..<frameCount {
            let isWhole = Int.random(in: 0..<3, using: &random) == 0
            let (width, height) =
                isWhole ? (6, 5) : (Int.random(in: 1...7, using: &random), Int.random(in: 1...7, using: &random))
            let (left, top) =
                isWhole ? (0, 0) : (Int.random(in: 0...6, using: &random), Int.random(in: 0...6, using: &random))
            var frame = Frame(width, height, left: left, top: top) { _, _ in UInt8.random(in: 0...3, using: &random) }
            frame.disposal = Int.random(in: 0...5, using: &random)
            frame.isInterlaced = Bool.random(using: &random)
            frame.transparentIndex = Bool.random(using: &random) ? UInt8.random(in: 0...3, using: &random) : nil
            file.frames.append(frame)
        }
        return file
    }

    /// What each frame looks like, drawn pixel by pixel after the standard.
    var composed: [[String]] {
        var canvas = Array(repeating: Array(repeating: Character("."), count: width), count: height)
        return frames.map { frame in
            let before = canvas
            for y in 0..<frame.height {
                for x in 0..<frame.width {
                    let index = frame.pixels[y * frame.width + x]
                    let (column, row) = (frame.left + x, frame.top + y)
                    guard column < width, row < height, index != frame.transparentIndex else { continue }
                    canvas[row][column] = Array("rgbw")[Int(index)]
                }
            }
            let shown = canvas.map { String($0) }
            if frame.disposal == 3 { canvas = before }
            if frame.disposal == 2 {
                for y in frame.top..<max(frame.top, min(frame.top + frame.height, height)) {
                    for x in frame.left..<max(frame.left, min(frame.left + frame.width, width)) { canvas[y][x] = "." }
                }
            }
            return shown
        }
    }
}

/// Random numbers that are the same on every run.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
