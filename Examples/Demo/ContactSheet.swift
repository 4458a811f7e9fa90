import NukeKit

/// Puts pictures on one sheet, five in a row.
enum ContactSheet {
    static func make(_ images: [Bitmap]) -> Bitmap {
        let (columns, cell, gap) = (5, 320, 8)
        let rows = (images.count + columns - 1) / columns
        let (width, height) = (columns * (cell + gap) + gap, rows * (cell + gap) + gap)
        guard var sheet = PixelBuffer(width: width, height: height) else {
            preconditionFailure("no memory for \(width)x\(height) pixels")
        }
        for y in 0..<height {
            sheet.withRow(y) { row in
                for index in 0..<row.byteCount { row.storeBytes(of: 255, toByteOffset: index, as: UInt8.self) }
            }
        }
        for (index, image) in images.enumerated() {
            let fitted = ImageProcessors.Resize(
                size: ImageSize(width: cell, height: cell), contentMode: .aspectFit
            ).process(image)
            guard let fitted else { continue }
            let x = gap + index % columns * (cell + gap) + (cell - fitted.width) / 2
            let y = gap + index / columns * (cell + gap) + (cell - fitted.height) / 2
            draw(fitted, at: x, y, on: &sheet)
        }
        return sheet.freeze(isOpaque: true)
    }

    /// Draws premultiplied pixels over opaque ones.
    private static func draw(_ image: Bitmap, at left: Int, _ top: Int, on sheet: inout PixelBuffer) {
        for y in 0..<image.height {
            let source = image.row(y)
            sheet.withRow(top + y) { row in
                for x in 0..<image.width {
                    let pixel = unsafe source.unsafeLoadUnaligned(fromByteOffset: x * 4, as: SIMD4<UInt8>.self)
                    for channel in 0..<3 {
                        let place = (left + x) * 4 + channel
                        let under = unsafe row.unsafeLoad(fromByteOffset: place, as: UInt8.self)
                        let shown = Int(pixel[channel]) + Int(under) * (255 - Int(pixel[3])) / 255
                        row.storeBytes(of: UInt8(min(shown, 255)), toByteOffset: place, as: UInt8.self)
                    }
                }
            }
        }
    }
}
