import FoundationEssentials
import NukeCore
import NukeDecodersGIF

/// A GIF made for a test, block by block.
struct GIFFile {
    /// Red, green, blue, white.
    static let palette: [UInt8] = [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255]

    var version = "GIF89a"
    var width: Int
    var height: Int
    var palette = Self.palette
    var loops: [Int] = []
    var frames: [Frame] = []
    var hasTrailer = true

    struct Frame {
        var left = 0
        var top = 0
        var width: Int
        var height: Int
        var pixels: [UInt8]
        var palette: [UInt8] = []
        var isInterlaced = false
        var delay: Int?
        var disposal = 0
        var transparentIndex: UInt8?
        var codeSize = 2
        /// Replaces the compressed pixels.
        var codes: [UInt8]?

        /// A frame of one colour.
        init(_ width: Int, _ height: Int, _ index: UInt8 = 0, left: Int = 0, top: Int = 0) {
            self.init(width, height, left: left, top: top) { _, _ in index }
        }

        init(_ width: Int, _ height: Int, left: Int = 0, top: Int = 0, _ pixel: (Int, Int) -> UInt8) {
            (self.left, self.top, self.width, self.height) = (left, top, width, height)
            pixels = (0..<width * height).map { pixel($0 % width, $0 / width) }
        }

        var bytes: [UInt8] {
            var bytes: [UInt8] = []
            if delay != nil || disposal != 0 || transparentIndex != nil {
                let flag: UInt8 = transparentIndex == nil ? 0 : 1
                let flags = UInt8(disposal) << 2 | flag
                bytes += [0x21, 0xF9, 4, flags]
                bytes += word(delay ?? 0)
                bytes += [transparentIndex ?? 0, 0]
            }
            bytes.append(0x2C)
            for number in [left, top, width, height] { bytes += word(number) }
            let passes: UInt8 = isInterlaced ? 0x40 : 0
            bytes.append(passes | paletteFlags(palette))
            bytes += palette
            bytes.append(UInt8(codeSize))
            bytes += blocks(codes ?? compressed)
            bytes.append(0)
            return bytes
        }

        private var compressed: [UInt8] {
            guard isInterlaced else { return compress(pixels, codeSize: codeSize) }
            let rows = [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { Array(stride(from: $0.0, to: height, by: $0.1)) }
            return compress(rows.flatMap { Array(pixels[$0 * width..<($0 + 1) * width]) }, codeSize: codeSize)
        }
    }

    init(_ width: Int, _ height: Int, _ frames: [Frame]) {
        (self.width, self.height, self.frames) = (width, height, frames)
    }

    /// A picture of noise, which packs badly.
    static func noise(_ width: Int, _ height: Int, isInterlaced: Bool = false, bits: Int = 8) -> GIFFile {
        var state: UInt32 = 1
        var frame = Frame(width, height) { x, y in
            state = state &* 1_664_525 &+ 1_013_904_223
            let sum = x * 200 / width + y * 40 / height + Int(state >> 29)
            let mask = (1 << bits) - 1
            return UInt8(sum & mask)
        }
        frame.isInterlaced = isInterlaced
        frame.codeSize = bits
        var file = GIFFile(width, height, [frame])
        var colors: [UInt8] = []
        for index in 0..<(1 << bits) { colors += [UInt8(index), UInt8(255 - index), UInt8(index / 2)] }
        file.palette = colors
        return file
    }

    var header: [UInt8] {
        var bytes = Array(version.utf8)
        bytes += word(width)
        bytes += word(height)
        bytes += [paletteFlags(palette), 0, 0]
        return bytes + palette
    }

    var data: Data {
        var bytes = header
        for loop in loops {
            bytes += [0x21, 0xFF, 11]
            bytes += Array("NETSCAPE2.0".utf8)
            bytes += [3, 1]
            bytes += word(loop)
            bytes.append(0)
        }
        bytes += frames.flatMap(\.bytes)
        return Data(hasTrailer ? bytes + [0x3B] : bytes)
    }
}

private func word(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8)] }

private func paletteFlags(_ palette: [UInt8]) -> UInt8 {
    palette.isEmpty ? 0 : 0x80 | UInt8((palette.count / 3).trailingZeroBitCount - 1)
}

private func blocks(_ bytes: [UInt8]) -> [UInt8] {
    stride(from: 0, to: bytes.count, by: 255).flatMap { start in
        let part = bytes[start..<min(start + 255, bytes.count)]
        return [UInt8(part.count)] + part
    }
}

/// LZW as GIF has it, with the clear code where the table is full.
private func compress(_ pixels: [UInt8], codeSize: Int) -> [UInt8] {
    let clear = 1 << codeSize
    var (bytes, bits, bitCount) = ([UInt8](), 0, 0)
    var (size, next, table) = (codeSize + 1, clear + 2, [Int: Int]())
    func put(_ code: Int) {
        bits |= code << bitCount
        bitCount += size
        while bitCount >= 8 {
            bytes.append(UInt8(bits & 255))
            (bits, bitCount) = (bits >> 8, bitCount - 8)
        }
    }
    put(clear)
    var string = -1
    for pixel in pixels.map(Int.init) {
        if string < 0 {
            string = pixel
        } else if let code = table[string << 8 | pixel] {
            string = code
        } else {
            put(string)
            if next < 4096 {
                table[string << 8 | pixel] = next
                if next == 1 << size { size += 1 }
                next += 1
            } else {
                put(clear)
                (size, next, table) = (codeSize + 1, clear + 2, [:])
            }
            string = pixel
        }
    }
    if string >= 0 { put(string) }
    put(clear + 1)
    if bitCount > 0 { bytes.append(UInt8(bits & 255)) }
    return bytes
}

/// Short ways to decode in tests.
enum Decoding {
    static func context(
        _ data: Data, _ change: (inout ImageDecodingContext) -> Void = { _ in }
    ) -> ImageDecodingContext {
        var context = ImageDecodingContext(request: ImageRequest(url: nil), data: data)
        change(&context)
        return context
    }

    static func container(
        _ data: Data, _ change: (inout ImageDecodingContext) -> Void = { _ in }
    ) throws(ImageDecodingError) -> ImageContainer {
        try ImageDecoders.GIF(context: context(data, change)).decode(data)
    }

    static func properties(
        _ data: Data, _ change: (inout ImageDecodingContext) -> Void = { _ in }
    ) throws(ImageDecodingError) -> ImageProperties? {
        try ImageDecoders.GIF(context: context(data, change)).properties(of: data)
    }

    /// The error that decoding ends with; nil if it gives an image.
    static func error(_ data: Data, _ change: (inout ImageDecodingContext) -> Void = { _ in }) -> ImageDecodingError? {
        do throws(ImageDecodingError) {
            _ = try container(data, change)
            return nil
        } catch {
            return error
        }
    }

    /// One letter a pixel, row by row: of `GIFFile.palette`, black, or a dot where there is nothing.
    static func letters(_ data: Data) throws -> [String] { letters(try container(data).image) }

    static func letters(_ image: Bitmap) -> [String] {
        (0..<image.height).map { y in
            String(
                (0..<image.width).map { x -> Character in
                    let pixel = (0..<4).map { image.row(y).unsafeLoad(fromByteOffset: x * 4 + $0, as: UInt8.self) }
                    switch pixel {
                    case [255, 0, 0, 255]: return "r"
                    case [0, 255, 0, 255]: return "g"
                    case [0, 0, 255, 255]: return "b"
                    case [255, 255, 255, 255]: return "w"
                    case [0, 0, 0, 255]: return "k"
                    case [0, 0, 0, 0]: return "."
                    default: return "?"
                    }
                })
        }
    }
}
