import FoundationEssentials
import NukeCore
import NukeDecodersPNG
import Testing

/// A picture of any colour type and depth whose samples are known, and what a decoder has to make of them.
struct SamplePicture: Sendable, CustomTestStringConvertible {
    var width = 11
    var height = 9
    var colorType: Int
    var depth: Int
    var isInterlaced = false
    /// `tRNS`: a key, or the alpha values of the palette.
    var transparency: [Int] = []
    /// The filter of all rows, 0…4; nil: each in turn.
    var filter: Int?

    /// Every colour type with every depth, plain and interlaced.
    static let all: [SamplePicture] = [
        (0, [1, 2, 4, 8, 16]), (2, [8, 16]), (3, [1, 2, 4, 8]), (4, [8, 16]), (6, [8, 16]),
    ]
    .flatMap { type, depths in depths.map { SamplePicture(colorType: type, depth: $0) } }
    .flatMap { picture in [picture, picture.interlaced] }

    var interlaced: SamplePicture { with { $0.isInterlaced = true } }

    func with(_ change: (inout SamplePicture) -> Void) -> SamplePicture {
        var copy = self
        change(&copy)
        return copy
    }

    var testDescription: String {
        "type \(colorType), \(depth) bits\(isInterlaced ? ", Adam7" : ""), tRNS \(transparency), \(width)x\(height)"
    }

    var channels: Int { [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][colorType] ?? 0 }

    /// The samples of a pixel: spread over the range, different in neighbours, the ends of the range among them.
    func samples(_ x: Int, _ y: Int) -> [Int] {
        let maximum = (1 << depth) - 1
        return (0..<channels).map { channel in
            if colorType == 3 { return (x * 3 + y * 5) % (1 << depth) }
            if channel == channels - 1, colorType >= 4 {
                return [0, maximum, maximum / 3, (x * 977 + y * 31) & maximum][(x + y) % 4]
            }
            return depth < 8 ? (x + y * 2) & maximum : (x * 5009 + y * 13_007 + channel * 21_013) & maximum
        }
    }

    /// The colour of a palette entry.
    static func color(_ index: Int) -> [Int] {
        [(index * 37) & 255, (255 - index * 11) & 255, (index * 101 + 17) & 255]
    }

    /// The premultiplied RGBA8 that a pixel has to become.
    func expected(_ x: Int, _ y: Int) -> [UInt8] {
        let stored = samples(x, y)
        let maximum = (1 << depth) - 1
        let eight = stored.map { ($0 * 255 * 2 + maximum) / (maximum * 2) }
        let isKey = stored == transparency
        let pixel: [Int] =
            switch colorType {
            case 0: [eight[0], eight[0], eight[0], isKey ? 0 : 255]
            case 2: eight + [isKey ? 0 : 255]
            case 3: Self.color(stored[0]) + [stored[0] < transparency.count ? transparency[stored[0]] : 255]
            case 4: [eight[0], eight[0], eight[0], eight[1]]
            default: eight
            }
        return pixel[0..<3].map { UInt8(($0 * pixel[3] + 127) / 255) } + [UInt8(pixel[3])]
    }

    /// The bytes of all pixels as they have to be decoded.
    var expectedBytes: [UInt8] { (0..<height).flatMap { y in (0..<width).flatMap { x in expected(x, y) } } }

    // MARK: Writing

    var header: PNGFile.Chunk {
        PNGFile.header(width: width, height: height, depth: depth, colorType: colorType, isInterlaced: isInterlaced)
    }

    /// PLTE, and tRNS where there is one.
    var palette: [PNGFile.Chunk] {
        let colors = (0..<1 << min(depth, 8)).flatMap { Self.color($0).map(UInt8.init) }
        let alphas = colorType == 3 ? transparency.map(UInt8.init) : PNGFile.wide(transparency)
        return (colorType == 3 ? [PNGFile.Chunk(type: "PLTE", contents: colors)] : [])
            + (transparency.isEmpty ? [] : [PNGFile.Chunk(type: "tRNS", contents: alphas)])
    }

    /// All rows, of all passes, filtered.
    var filteredRows: [UInt8] {
        let passes =
            isInterlaced
            ? [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
            : [(0, 0, 1, 1)]
        return passes.flatMap { x0, y0, dx, dy in
            let columns = Array(stride(from: x0, to: width, by: dx))
            guard !columns.isEmpty else { return [UInt8]() }
            var above = [UInt8](repeating: 0, count: (columns.count * channels * depth + 7) / 8)
            return stride(from: y0, to: height, by: dy).enumerated().flatMap { index, y in
                let row = pack(columns.flatMap { samples($0, y) })
                defer { above = row }
                return filtered(row, above, filter ?? index % 5)
            }
        }
    }

    private func pack(_ samples: [Int]) -> [UInt8] {
        if depth == 16 { return PNGFile.wide(samples) }
        var bytes = [UInt8](repeating: 0, count: (samples.count * depth + 7) / 8)
        for (index, sample) in samples.enumerated() {
            bytes[index * depth / 8] |= UInt8(sample << (8 - depth - index * depth % 8))
        }
        return bytes
    }

    /// The filter's number and what it makes of a row (PNG, 9.2).
    private func filtered(_ row: [UInt8], _ above: [UInt8], _ filter: Int) -> [UInt8] {
        let step = max(1, channels * depth / 8)
        return [UInt8(filter)]
            + row.indices.map { index in
                let a = index >= step ? Int(row[index - step]) : 0
                let (b, c) = (Int(above[index]), index >= step ? Int(above[index - step]) : 0)
                let distances = (abs(b - c), abs(a - c), abs(a + b - 2 * c))
                let nearest =
                    distances.0 <= distances.1 && distances.0 <= distances.2 ? a : distances.1 <= distances.2 ? b : c
                return UInt8(truncatingIfNeeded: Int(row[index]) - [0, a, b, (a + b) / 2, nearest][filter])
            }
    }
}

/// Decodes as the pipeline does.
enum Decoding {
    static func context(
        _ data: Data, request: ImageRequest = ImageRequest(url: nil),
        _ change: (inout ImageDecodingContext) -> Void = { _ in }
    ) -> ImageDecodingContext {
        var context = ImageDecodingContext(request: request, data: data)
        change(&context)
        return context
    }

    static func container(
        _ data: Data, request: ImageRequest = ImageRequest(url: nil),
        _ change: (inout ImageDecodingContext) -> Void = { _ in }
    ) throws(ImageDecodingError) -> ImageContainer {
        try ImageDecoders.PNG(context: context(data, request: request, change)).decode(data)
    }

    static func image(_ data: Data) throws(ImageDecodingError) -> Bitmap { try container(data).image }

    static func properties(_ data: Data) throws(ImageDecodingError) -> ImageProperties? {
        try ImageDecoders.PNG(context: context(data)).properties(of: data)
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
}
