internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension Bitmap {
    /// Whether sizes, formats and all bytes are equal.
    func hasSamePixels(as other: Bitmap) -> Bool {
        width == other.width && height == other.height && format == other.format && pixelData == other.pixelData
    }

    /// Another bitmap with the same pixels; nil if there is no memory.
    var copy: Bitmap? {
        guard var buffer = PixelBuffer(width: width, height: height, format: format) else { return nil }
        for y in 0..<height { buffer.writeStoredRow(row(y), at: y, orientation: .up) }
        return buffer.freeze(isOpaque: isOpaque, colorSpace: colorSpace, scale: scale)
    }

    private var pixelData: Data {
        // SAFETY: the bytes are copied while the span lasts.
        unsafe bytes.withUnsafeBytes { unsafe Data($0) }
    }

    /// The premultiplied samples of a pixel, 0…255: red, green, blue, alpha.
    func samples(_ x: Int, _ y: Int) -> SIMD4<Double> {
        // SAFETY: the loads check the bounds, and any bytes are integers.
        let row = row(y)
        switch format {
        case .rgba8:
            let pixel = unsafe row.unsafeLoadUnaligned(fromByteOffset: x * 4, as: SIMD4<UInt8>.self)
            return SIMD4(Double(pixel.x), Double(pixel.y), Double(pixel.z), Double(pixel.w))
        case .rgba16:
            let pixel = unsafe row.unsafeLoadUnaligned(fromByteOffset: x * 8, as: SIMD4<UInt16>.self)
            return SIMD4(Double(pixel.x), Double(pixel.y), Double(pixel.z), Double(pixel.w)) / 257
        case .gray8:
            let value = Double(unsafe row.unsafeLoad(fromByteOffset: x, as: UInt8.self))
            return SIMD4(value, value, value, 255)
        }
    }

    /// The means of the cells of a grid of 4×4, row by row; a pixel on a border counts to each side with its part.
    var gridMeans: [SIMD4<Double>] {
        let (columns, rows) = (GridAxis(width), GridAxis(height))
        let columnParts = (0..<width).map(columns.parts)
        var sums = [SIMD4<Double>](repeating: .zero, count: GridAxis.cells * GridAxis.cells)
        for y in 0..<height {
            var row = [SIMD4<Double>](repeating: .zero, count: GridAxis.cells)
            for x in 0..<width {
                let pixel = samples(x, y)
                for (cell, weight) in columnParts[x] { row[cell] += pixel * weight }
            }
            for (cell, weight) in rows.parts(of: y) {
                for column in row.indices { sums[cell * GridAxis.cells + column] += row[column] * weight }
            }
        }
        return sums.map { $0 / (columns.cellSize * rows.cellSize) }
    }

    /// The largest difference between the means of this picture's grid and another.
    func gridDifference(from others: [SIMD4<Double>]) -> Double {
        zip(gridMeans, others).reduce(0) { largest, means in
            let difference = means.0 - means.1
            return max(largest, abs(difference.x), abs(difference.y), abs(difference.z), abs(difference.w))
        }
    }
}

/// One side of a picture, cut into equal cells.
private struct GridAxis {
    static let cells = 4
    let cellSize: Double

    init(_ side: Int) { cellSize = Double(side) / Double(Self.cells) }

    /// The cells that a pixel lies in, with how much of it lies in each.
    func parts(of pixel: Int) -> [(cell: Int, weight: Double)] {
        let (start, end) = (Double(pixel), Double(pixel) + 1)
        let first = min(Int(start / cellSize), Self.cells - 1)
        if end <= Double(first + 1) * cellSize { return [(first, 1)] }
        return (first..<Self.cells).compactMap { cell in
            let overlap = min(end, Double(cell + 1) * cellSize) - max(start, Double(cell) * cellSize)
            return overlap > 0 ? (cell, overlap) : nil
        }
    }
}
