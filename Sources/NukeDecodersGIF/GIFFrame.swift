internal import NukeCore

/// One picture of a GIF as its descriptor and the control extension before it tell (GIF89a, 20 and 23).
struct GIFFrame {
    /// Columns to the left of it on the canvas.
    let left: Int
    /// Rows above it on the canvas.
    let top: Int
    /// Columns; they may reach beyond the canvas.
    let width: Int
    /// Rows; they may reach beyond the canvas.
    let height: Int
    /// Whether the rows are stored in four passes.
    let isInterlaced: Bool
    /// Where its colours are; nil if neither it nor the file has any.
    let palette: Range<Int>?
    /// What the control extension says.
    let control: Control
    /// The offset of its pixels: the code size, then blocks.
    let start: Int

    /// The control extension.
    struct Control {
        /// Hundredths of a second that the frame is to be shown.
        var delay = 0
        /// The index that leaves the canvas as it is.
        var transparentIndex: UInt8?
        /// What becomes of it before the next frame is drawn.
        var disposal = FrameComposer.Disposal.keep
    }

    /// Reads a descriptor at an offset and skips its palette; nil if the data ends before the code size.
    init?(at offset: Int, in bytes: RawSpan, control: Control, palette globalPalette: Range<Int>?) {
        guard bytes.byteCount - offset >= 10 else { return nil }
        left = bytes.number(at: offset + 1)
        top = bytes.number(at: offset + 3)
        width = bytes.number(at: offset + 5)
        height = bytes.number(at: offset + 7)
        let flags = bytes.byte(at: offset + 9)
        isInterlaced = flags & 0x40 != 0
        let local = GIFHeader.palette(flags: flags, at: offset + 10)
        palette = local.isEmpty ? globalPalette : local
        self.control = control
        start = local.upperBound
        guard start < bytes.byteCount else { return nil }
    }

    /// Bits of an index into the palette.
    var bitDepth: Int { ((palette?.count ?? 6) / 3).trailingZeroBitCount }

    /// Columns of the canvas that it lies over.
    func columns(on header: GIFHeader) -> Range<Int> {
        min(left, header.width)..<min(left + width, header.width)
    }

    /// Rows of the canvas that it lies over.
    func rows(on header: GIFHeader) -> Range<Int> {
        min(top, header.height)..<min(top + height, header.height)
    }

    /// Whether it lies over all of the canvas.
    func covers(_ header: GIFHeader) -> Bool {
        left == 0 && top == 0 && width >= header.width && height >= header.height
    }

    /// When the row arrives, counted from 0: of four passes every eighth row, those between, and so on (appendix E).
    func arrival(ofRow y: Int) -> Int {
        guard isInterlaced else { return y }
        let (first, second, third) = ((height + 7) / 8, (height + 3) / 8, (height + 1) / 4)
        if y % 8 == 0 { return y / 8 }
        if y % 8 == 4 { return first + y / 8 }
        return y % 4 == 2 ? first + second + y / 4 : first + second + third + y / 2
    }

    /// The row that arrives as one of that number: the inverse of `arrival(ofRow:)`.
    func row(ofArrival index: Int) -> Int {
        guard isInterlaced else { return index }
        let (first, second, third) = ((height + 7) / 8, (height + 3) / 8, (height + 1) / 4)
        if index < first { return index * 8 }
        if index < first + second { return (index - first) * 8 + 4 }
        if index < first + second + third { return (index - first - second) * 4 + 2 }
        return (index - first - second - third) * 2 + 1
    }
}

extension FrameComposer.Disposal {
    /// Reads the flags of a control extension (GIF89a, 23): what no standard defines, 4 to 7, counts as nothing.
    ///
    /// What is cleared becomes transparent, as in browsers, whatever the background colour.
    init(flags: UInt8) {
        switch flags >> 2 & 7 {
        case 2: self = .clear
        case 3: self = .restore
        default: self = .keep
        }
    }
}
