internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The frames of an animated PNG, each composed when it is asked for (PNG, third edition, 11.3.6.2).
///
/// Holds the compressed data, the canvas as it was shown last and, if that frame is to be taken back, as it was before.
/// Frames in rising order cost one decode each. Any other starts from the last one shown, or from the nearest before it that
/// needs none before; frames between that leave nothing on the canvas are not decoded.
final class PNGFrames: ImageFrameDecoding {
    private let data: Data
    private let header: PNGHeader
    private let frames: [PNGFrame]
    private let context: ImageDecodingContext
    private let colorSpace: ColorSpace
    private let last = Lock(Shown?.none)

    /// A frame as it was shown, as stored.
    private struct Shown {
        let index: Int
        let image: Bitmap
        /// The canvas before it, kept if it comes back; nil if it was empty.
        let before: Bitmap?
    }

    /// What a frame is drawn on.
    private struct Base {
        /// The canvas to begin with; nil if it is empty.
        var image: Bitmap?
        /// What is done to it in turn.
        var steps: [Step] = []
    }

    private enum Step {
        case paint(Int)
        case clear(Int)
    }

    init(
        _ frames: [PNGFrame], _ header: PNGHeader, _ data: Data, context: ImageDecodingContext, colorSpace: ColorSpace
    ) {
        (self.frames, self.header, self.data) = (frames, header, data)
        (self.context, self.colorSpace) = (context, colorSpace)
    }

    var compressedData: Data? { data }

    var canvasByteCount: Int {
        header.width * header.height * 4 * (frames.contains { $0.disposal == .restore } ? 2 : 1)
    }

    func frame(at index: Int) throws(ImageDecodingError) -> Bitmap {
        try last.withLock { last throws(ImageDecodingError) in
            if last?.index != index { last = try compose(index, after: last) }
            guard let image = last?.image else { throw .cancelled }
            return header.orientation == .up ? image : try upright(image)
        }
    }

    private func compose(_ index: Int, after last: Shown?) throws(ImageDecodingError) -> Shown {
        try checkLimits()
        // What ends the load must not end what is shown of it.
        let watch = DecodingWatch(limits: context.limits, codec: ImageDecoders.PNG.codec)
        let frame = frames[index]
        var base = base(of: index, after: last)
        if frame.disposal == .restore, !base.steps.isEmpty {
            // What comes back must be a picture of its own.
            base = Base(image: try image(base, watch))
        }
        base.steps.append(.paint(index))
        let image = try image(base, watch)
        return Shown(index: index, image: image, before: frame.disposal == .restore ? base.image : nil)
    }

    /// Throws unless the canvas before a frame, the one after it, and one that comes back or is turned, are within bounds.
    private func checkLimits() throws(ImageDecodingError) {
        let (pixels, overflow) = header.width.multipliedReportingOverflow(by: header.height)
        let (bytes, bytesOverflow) = pixels.multipliedReportingOverflow(by: 12)
        try context.limits.check(
            width: header.width, height: header.height, codecBytes: overflow || bytesOverflow ? .max : bytes,
            codec: ImageDecoders.PNG.codec)
    }

    /// Goes back from a frame to where the canvas is known.
    private func base(of index: Int, after last: Shown?) -> Base {
        var base = Base()
        if isComplete(frames[index]), frames[index].disposal != .restore { return base }
        var steps: [Step] = []
        for before in (0..<index).reversed() {
            let (frame, isShown) = (frames[before], last?.index == before)
            switch frame.disposal {
            case .restore:
                guard isShown else { continue }
                base.image = last?.before
            case .clear:
                if frame.covers(header) { break }
                steps.append(.clear(before))
                // What it covered is cleared, what it did not is as before it.
                guard isShown else { continue }
                base.image = last?.image
            case .none:
                if isShown {
                    base.image = last?.image
                } else {
                    steps.append(.paint(before))
                    guard isComplete(frame) else { continue }
                }
            }
            break
        }
        base.steps = steps.reversed()
        return base
    }

    /// Whether nothing is seen of what was there before.
    private func isComplete(_ frame: PNGFrame) -> Bool {
        frame.covers(header) && (frame.blending == .replace || !header.mayHaveAlpha)
    }

    /// A copy of the canvas, with the steps done.
    private func image(_ base: Base, _ watch: DecodingWatch) throws(ImageDecodingError) -> Bitmap {
        var canvas = try buffer(header.width, header.height)
        var isOpaque = false
        if let image = base.image {
            isOpaque = image.isOpaque
            canvas.withBytes { bytes in
                // SAFETY: both have the size of the canvas.
                unsafe bytes.withUnsafeMutableBytes { target in
                    unsafe image.bytes.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
                }
            }
        }
        for step in base.steps {
            switch step {
            case .clear(let index):
                clear(frames[index], on: &canvas)
                isOpaque = false
            case .paint(let index):
                let frame = frames[index]
                let hasAlpha = try paint(frame, on: &canvas, watch)
                if hasAlpha, frame.blending == .replace { isOpaque = false }
                if !hasAlpha, frame.covers(header) { isOpaque = true }
            }
        }
        return canvas.freeze(isOpaque: isOpaque, colorSpace: colorSpace, scale: context.request.scale)
    }

    private func clear(_ frame: PNGFrame, on canvas: inout PixelBuffer) {
        for y in frame.top..<frame.top + frame.height {
            canvas.withRow(y) { row in RowConversion.clear(&row, from: frame.left, count: frame.width) }
        }
    }

    /// Draws a frame; returns whether it may have pixels that are not opaque.
    private func paint(
        _ frame: PNGFrame, on canvas: inout PixelBuffer, _ watch: DecodingWatch
    ) throws(ImageDecodingError) -> Bool {
        if frame.isDefaultImage { return try paint(frame, data.bytes, on: &canvas, watch) }
        let file = try frame.file(from: data.bytes, header)
        return try paint(frame, file.bytes, on: &canvas, watch)
    }

    /// Reads a frame out of a file of its own, and draws its rows.
    private func paint(
        _ frame: PNGFrame, _ bytes: RawSpan, on canvas: inout PixelBuffer, _ watch: DecodingWatch
    ) throws(ImageDecodingError) -> Bool {
        let reader = try PNGReader(bytes, limits: context.limits)
        guard reader.width == frame.width, reader.height == frame.height else {
            throw .corruptData("the header tells two sizes", codec: ImageDecoders.PNG.codec)
        }
        // Of passes only the last leaves rows that can be drawn.
        var pixels = try buffer(frame.width, reader.passCount == 1 ? 1 : frame.height)
        let isOver = reader.hasAlpha && frame.blending == .over
        for pass in 1...reader.passCount {
            for y in 0..<frame.height {
                try watch.check(row: y)
                let place = reader.passCount == 1 ? 0 : y
                try pixels.withRow(place) { (row: inout MutableRawSpan) throws(ImageDecodingError) in
                    try reader.readRow(into: &row)
                    guard pass == reader.passCount else { return }
                    reader.premultiply(&row)
                    let source = row.bytes
                    canvas.withRow(frame.top + y) { target in
                        RowConversion.draw(source, on: &target, at: frame.left, isOver: isOver)
                    }
                }
            }
        }
        return reader.hasAlpha
    }

    private func upright(_ image: Bitmap) throws(ImageDecodingError) -> Bitmap {
        let orientation = header.orientation
        var upright =
            orientation.swapsSides ? try buffer(image.height, image.width) : try buffer(image.width, image.height)
        for y in 0..<image.height { upright.writeStoredRow(image.row(y), at: y, orientation: orientation) }
        return upright.freeze(isOpaque: image.isOpaque, colorSpace: colorSpace, scale: image.scale)
    }

    private func buffer(_ width: Int, _ height: Int) throws(ImageDecodingError) -> PixelBuffer {
        guard let buffer = PixelBuffer(width: width, height: height) else {
            throw .outOfMemory("no memory for \(width)x\(height) pixels", codec: ImageDecoders.PNG.codec)
        }
        return buffer
    }
}
