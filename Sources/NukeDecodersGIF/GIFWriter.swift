internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Writes a GIF89a frame by frame.
///
/// The colours of the first frame are the file's. A later frame has its own where they serve it better.
struct GIFWriter {
    private let isDithered: Bool
    private var file: [UInt8] = []
    private var quantizer = GIFQuantizer()
    private var compressor = GIFCompressor()
    private var global: Global?

    /// The file's colours.
    private struct Global {
        let palette: GIFPalette
        /// How badly they serve the first frame.
        let error: Double
        let bits: Int
    }

    /// Begins a file.
    init(isDithered: Bool) { self.isDithered = isDithered }

    /// What stands before the first frame.
    struct Header {
        /// Columns of the canvas.
        let width: Int
        /// Rows of the canvas.
        let height: Int
        /// How often all frames are shown: 1 for stills, nil for ever.
        let playCount: Int?
        /// The profile of the colours; nil for sRGB.
        let profile: Data?
        /// Whether there are several frames, some of which will leave pixels as they are.
        let isAnimated: Bool
    }

    /// Writes the header and the first frame.
    mutating func write(_ header: Header, first part: GIFCanvas.Part, delay: Int) {
        let hasNothing = part.pixels.contains(0)
        let choice = quantizer.choice(for: part.pixels, limit: hasNothing ? 255 : 256)
        // A place for what stays as it is, where there is one: more colours than that have none.
        let reserve = (hasNothing || header.isAnimated) && choice.palette.colors.count < 256 ? 1 : 0
        let bits = Self.bits(choice.palette.colors.count + reserve)
        file += "GIF89a".utf8
        append(header.width)
        append(header.height)
        file += [0xF0 | UInt8(bits - 1), 0, 0]
        append(choice.palette, bits: bits)
        // Played once is what there is no extension for (the number stored is that of repeats).
        if header.playCount != 1 {
            file += [0x21, 0xFF, 11]
            file += "NETSCAPE2.0".utf8
            file += [3, 1]
            append(header.playCount.map { min(max($0, 2) - 1, 0xFFFF) } ?? 0)
            file.append(0)
        }
        if let profile = header.profile {
            file += [0x21, 0xFF, 11]
            file += "ICCRGBG1012".utf8
            GIFCompressor.appendBlocks(profile, to: &file)
        }
        global = Global(palette: choice.palette, error: choice.error, bits: bits)
        write(part, choice.palette, localBits: nil, bits: bits, delay: delay)
    }

    /// Writes a frame after the first.
    mutating func write(_ part: GIFCanvas.Part, delay: Int) {
        guard let global else { return }
        let hasNothing = part.pixels.contains(0)
        let isUsable = !hasNothing || global.palette.colors.count < 1 << global.bits
        // Colours that serve as well as they do the first frame need no others.
        let choice = quantizer.choice(
            for: part.pixels, limit: hasNothing ? 255 : 256, given: isUsable ? global.palette : nil,
            tolerated: global.error)
        if isUsable, choice.palette.colors == global.palette.colors {
            write(part, global.palette, localBits: nil, bits: global.bits, delay: delay)
        } else {
            let bits = Self.bits(choice.palette.colors.count + (hasNothing ? 1 : 0))
            write(part, choice.palette, localBits: bits, bits: bits, delay: delay)
        }
    }

    /// Ends the file.
    consuming func finish() -> Data {
        file.append(0x3B)
        return Data(file)
    }

    private mutating func write(
        _ part: GIFCanvas.Part, _ palette: GIFPalette, localBits: Int?, bits: Int, delay: Int
    ) {
        let area = part.area
        let hasNothing = part.pixels.contains(0)
        let nothing = UInt8(truncatingIfNeeded: palette.colors.count)
        if hasNothing || delay > 0 || part.isCleared {
            let disposal: UInt8 = part.isCleared ? 2 : 1
            file += [0x21, 0xF9, 4, disposal << 2 | (hasNothing ? 1 : 0)]
            append(delay)
            file += [hasNothing ? nothing : 0, 0]
        }
        file.append(0x2C)
        for number in [area.columns.lowerBound, area.rows.lowerBound, area.columns.count, area.rows.count] {
            append(number)
        }
        file.append(localBits.map { 0x80 | UInt8($0 - 1) } ?? 0)
        if let localBits { append(palette, bits: localBits) }
        var indexer = GIFIndexer(palette, nothing: nothing)
        let indices =
            isDithered
            ? indexer.ditheredIndices(of: part.pixels, width: area.columns.count) : indexer.indices(of: part.pixels)
        compressor.pack(indices, codeSize: max(bits, 2), into: &file)
    }

    /// Bits of an index, at least 1.
    private static func bits(_ count: Int) -> Int { max(1, Int.bitWidth - (count - 1).leadingZeroBitCount) }

    private mutating func append(_ palette: GIFPalette, bits: Int) {
        for color in palette.colors { file += [UInt8(color & 255), UInt8(color >> 8 & 255), UInt8(color >> 16 & 255)] }
        file += [UInt8](repeating: 0, count: 3 * ((1 << bits) - palette.colors.count))
    }

    private mutating func append(_ number: Int) { file += [UInt8(number & 255), UInt8(number >> 8 & 255)] }
}
