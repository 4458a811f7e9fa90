import FoundationEssentials
import NukeTestSupport

/// An animated PNG of RGBA pixels being written by hand, frame by frame.
struct APNGFile {
    /// A frame of RGBA pixels, straight.
    struct Frame {
        var left = 0
        var top = 0
        var width: Int
        var height: Int
        var pixels: [[UInt8]]
        var delay = (1, 10)
        var disposal = 0
        var blending = 0
        /// Into how many chunks its data is cut.
        var pieces = 1

        /// A frame of one colour.
        init(_ width: Int, _ height: Int, _ pixel: [UInt8], left: Int = 0, top: Int = 0) {
            (self.width, self.height, self.left, self.top) = (width, height, left, top)
            pixels = Array(repeating: pixel, count: width * height)
        }
    }

    var width: Int
    var height: Int
    var frames: [Frame]
    var playCount = 0
    /// The still picture that is no frame of the animation.
    var hiddenImage: Frame?
    var frameCount: Int?
    var before: [PNGFile.Chunk] = []

    init(_ width: Int, _ height: Int, _ frames: [Frame]) {
        (self.width, self.height, self.frames) = (width, height, frames)
    }

    /// All chunks, with sequence numbers in order.
    var file: PNGFile {
        let counts = PNGFile.bigEndian(frameCount ?? frames.count) + PNGFile.bigEndian(playCount)
        var chunks = [
            PNGFile.header(width: width, height: height, depth: 8, colorType: 6),
            PNGFile.Chunk(type: "acTL", contents: counts),
        ]
        chunks += before
        var number = 0
        func next() -> [UInt8] {
            number += 1
            return PNGFile.bigEndian(number - 1)
        }
        if let hiddenImage { chunks.append(.init(type: "IDAT", contents: Self.stream(hiddenImage))) }
        for (index, frame) in frames.enumerated() {
            var control = next()
            for value in [frame.width, frame.height, frame.left, frame.top] { control += PNGFile.bigEndian(value) }
            for value in [frame.delay.0, frame.delay.1] { control += [UInt8(value >> 8), UInt8(value & 255)] }
            chunks.append(.init(type: "fcTL", contents: control + [UInt8(frame.disposal), UInt8(frame.blending)]))
            let isStill = index == 0 && hiddenImage == nil
            let stream = Self.stream(frame)
            let size = (stream.count + frame.pieces - 1) / frame.pieces
            for start in stride(from: 0, to: stream.count, by: size) {
                let piece = Array(stream[start..<min(start + size, stream.count)])
                chunks.append(.init(type: isStill ? "IDAT" : "fdAT", contents: (isStill ? [] : next()) + piece))
            }
        }
        return PNGFile(chunks + [.init(type: "IEND", contents: [])])
    }

    var data: Data { file.data }

    private static func stream(_ frame: Frame) -> [UInt8] {
        var rows: [UInt8] = []
        for y in 0..<frame.height {
            rows.append(0)
            for x in 0..<frame.width { rows += frame.pixels[y * frame.width + x] }
        }
        return PNGFile.zlib(rows)
    }

    /// Premultiplied samples of each frame as it is shown, drawn pixel by pixel after the standard.
    var composed: [[Double]] {
        var canvas = [Double](repeating: 0, count: width * height * 4)
        return frames.map { frame in
            let before = canvas
            for y in 0..<frame.height {
                for x in 0..<frame.width {
                    let pixel = frame.pixels[y * frame.width + x].map(Double.init)
                    let place = ((frame.top + y) * width + frame.left + x) * 4
                    for channel in 0..<4 {
                        let source = channel == 3 ? pixel[3] : pixel[channel] * pixel[3] / 255
                        let kept = frame.blending == 1 ? canvas[place + channel] * (255 - pixel[3]) / 255 : 0
                        canvas[place + channel] = source + kept
                    }
                }
            }
            let shown = canvas
            if frame.disposal == 2 { canvas = before }
            if frame.disposal == 1 {
                for y in frame.top..<frame.top + frame.height {
                    let start = (y * width + frame.left) * 4
                    canvas.replaceSubrange(
                        start..<start + frame.width * 4, with: repeatElement(0, count: frame.width * 4))
                }
            }
            return shown
        }
    }

    /// A file of small frames, placed, drawn and disposed of in any way.
    static func random(_ random: inout SeededNumbers, frameCount: Int) -> APNGFile {
        let (width, height) = (6, 5)
        let frames = (0..<frameCount).map { index in
            let isWhole = index == 0 || Int.random(in: 0..<3, using: &random) == 0
            let frameWidth = isWhole ? width : Int.random(in: 1...width, using: &random)
            let frameHeight = isWhole ? height : Int.random(in: 1...height, using: &random)
            var frame = Frame(frameWidth, frameHeight, [0, 0, 0, 0])
            frame.left = Int.random(in: 0...width - frameWidth, using: &random)
            frame.top = Int.random(in: 0...height - frameHeight, using: &random)
            frame.pixels = frame.pixels.map { _ in
                let alpha: UInt8 = [0, 90, 128, 255, 255].randomElement(using: &random) ?? 0
                let color = (0..<3).map { _ in UInt8.random(in: 0...255, using: &random) }
                return color + [alpha]
            }
            frame.disposal = Int.random(in: 0...2, using: &random)
            frame.blending = Int.random(in: 0...1, using: &random)
            frame.pieces = Int.random(in: 1...3, using: &random)
            return frame
        }
        return APNGFile(width, height, frames)
    }
}
