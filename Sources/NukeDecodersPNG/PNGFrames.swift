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
    private let composer: Lock<FrameComposer>

    init(
        _ frames: [PNGFrame], _ header: PNGHeader, _ data: Data, context: ImageDecodingContext, colorSpace: ColorSpace
    ) {
        (self.frames, self.header, self.data) = (frames, header, data)
        (self.context, self.colorSpace) = (context, colorSpace)
        composer = Lock(
            FrameComposer(
                frames.map { frame in
                    let coversCanvas = frame.covers(header)
                    return FrameComposer.Frame(
                        disposal: frame.disposal, coversCanvas: coversCanvas,
                        isComplete: coversCanvas && (frame.blending == .replace || !header.mayHaveAlpha))
                }))
    }

    var compressedData: Data? { data }

    var canvasByteCount: Int { header.width * header.height * 4 * composer.withLock { $0.canvasCount } }

    func frame(at index: Int) throws(ImageDecodingError) -> Bitmap {
        try checkLimits()
        // What ends the load must not end what is shown of it.
        let watch = DecodingWatch(limits: context.limits, codec: ImageDecoders.PNG.codec)
        let image = try composer.withLock { composer throws(ImageDecodingError) in
            try composer.frame(at: index) { base, steps throws(ImageDecodingError) in
                try self.image(base, steps, watch)
            }
        }
        return header.orientation == .up ? image : try upright(image)
    }

    /// Throws unless the canvas before a frame, the one after it, and one that comes back or is turned, are within bounds.
    private func checkLimits() throws(ImageDecodingError) {
        let (pixels, overflow) = header.width.multipliedReportingOverflow(by: header.height)
        let (bytes, bytesOverflow) = pixels.multipliedReportingOverflow(by: 12)
        try context.limits.check(
            width: header.width, height: header.height, codecBytes: overflow || bytesOverflow ? .max : bytes,
            codec: ImageDecoders.PNG.codec)
    }

    /// A copy of a picture of the canvas, with the steps done.
    private func image(
        _ base: Bitmap?, _ steps: [FrameComposer.Step], _ watch: DecodingWatch
    ) throws(ImageDecodingError) -> Bitmap {
        var isOpaque = base?.isOpaque ?? false
        var canvas = try canvas(base)
        for step in steps {
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

    private func canvas(_ base: Bitmap?) throws(ImageDecodingError) -> PixelBuffer {
        guard let base else { return try buffer(header.width, header.height) }
        guard let copy = PixelBuffer(copying: base) else { throw outOfMemory(header.width, header.height) }
        return copy
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
            throw outOfMemory(width, height)
        }
        return buffer
    }

    private func outOfMemory(_ width: Int, _ height: Int) -> ImageDecodingError {
        .outOfMemory("no memory for \(width)x\(height) pixels", codec: ImageDecoders.PNG.codec)
    }
}
