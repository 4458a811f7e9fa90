internal import NukeCore

/// Makes rows of RGBA8 out of rows of other formats.
struct RowConverter {
    private let format: PixelFormat
    private var row: [UInt8]

    init(width: Int, format: PixelFormat) {
        self.format = format
        row = [UInt8](repeating: 255, count: format == .rgba8 ? 0 : width * 4)
    }

    /// The row as it is if that is RGBA8, else a conversion: the high part of 16 bits, rounded, and gray as three colours.
    @_lifetime(copy pixels, &self)
    mutating func convert(_ pixels: RawSpan) -> RawSpan {
        // SAFETY: the loads check the bounds, and any bytes are integers; the bytes returned are those of an array.
        switch format {
        case .rgba8: return pixels
        case .rgba16:
            for index in row.indices {
                let sample = UInt32(unsafe pixels.unsafeLoadUnaligned(fromByteOffset: index * 2, as: UInt16.self))
                row[index] = UInt8((sample * 255 + 32_767) / 65_535)
            }
        case .gray8:
            for index in row.indices where index % 4 != 3 {
                row[index] = unsafe pixels.unsafeLoad(fromByteOffset: index / 4, as: UInt8.self)
            }
        }
        return unsafe row.span.bytes
    }
}
