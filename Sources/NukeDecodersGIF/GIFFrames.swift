internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The frames of a GIF, each composed when it is asked for.
///
/// Holds the compressed data, the canvas as it was shown last and, if that frame is to be taken back, as it was before.
/// Frames in rising order cost one decode each. Any other starts from the last one shown, or from the nearest before it that
/// needs none before; frames between that leave nothing on the canvas are not decoded.
final class GIFFrames: ImageFrameDecoding {
    private let data: Data
    private let header: GIFHeader
    private let frames: [GIFFrame]
    private let context: ImageDecodingContext
    private let colorSpace: ColorSpace
    private let last = Lock(Shown?.none)

    /// A frame as it was shown.
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
        _ frames: [GIFFrame], _ header: GIFHeader, _ data: Data, context: ImageDecodingContext, colorSpace: ColorSpace
    ) {
        (self.frames, self.header, self.data) = (frames, header, data)
        self.colorSpace = colorSpace
        self.context = context
    }

    var compressedData: Data? { data }

    var canvasByteCount: Int {
        header.width * header.height * 4 * (frames.contains { $0.control.disposal == .restore } ? 2 : 1)
    }

    func frame(at index: Int) throws(ImageDecodingError) -> Bitmap {
        try last.withLock { last throws(ImageDecodingError) in
            if let last, last.index == index { return last.image }
            let shown = try compose(index, after: last)
            last = shown
            return shown.image
        }
    }

    private func compose(_ index: Int, after last: Shown?) throws(ImageDecodingError) -> Shown {
        let (codec, canvasBytes) = (ImageDecoders.GIF.codec, header.width * header.height * 4)
        // The canvas before, the one after it, and one that comes back.
        try context.limits.check(
            width: header.width, height: header.height, decodedBytes: canvasBytes,
            codecBytes: canvasBytes * 2 + GIFRowReader.byteCount(width: frames[index].width), codec: codec)
        // What ends the load must not end what is shown of it.
        let watch = DecodingWatch(limits: context.limits, codec: ImageDecoders.GIF.codec)
        var base = base(of: index, after: last)
        let frame = frames[index]
        if frame.control.disposal == .restore, !base.steps.isEmpty {
            // What comes back must be a picture of its own.
            base = Base(image: try image(base, watch))
        }
        base.steps.append(.paint(index))
        let image = try image(base, watch)
        return Shown(index: index, image: image, before: frame.control.disposal == .restore ? base.image : nil)
    }

    /// Goes back from a frame to where the canvas is known.
    private func base(of index: Int, after last: Shown?) -> Base {
        var base = Base()
        if isComplete(frames[index]), frames[index].control.disposal != .restore { return base }
        var steps: [Step] = []
        for before in (0..<index).reversed() {
            let (frame, isShown) = (frames[before], last?.index == before)
            switch frame.control.disposal {
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

    /// Whether nothing is seen of what was there before: if rows may be lacking, that is not known.
    private func isComplete(_ frame: GIFFrame) -> Bool {
        frame.control.transparentIndex == nil && frame.covers(header) && context.truncationPolicy == .strict
    }

    /// A copy of the canvas, with the steps done.
    private func image(_ base: Base, _ watch: DecodingWatch) throws(ImageDecodingError) -> Bitmap {
        guard var canvas = PixelBuffer(width: header.width, height: header.height) else {
            throw .outOfMemory(
                "no memory for \(header.width)x\(header.height) pixels", codec: ImageDecoders.GIF.codec)
        }
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
                let painting = GIFPainting(header: header, frame: frames[index])
                let outcome = try painting.paint(onto: &canvas, from: data.bytes, watch: watch)
                if let error = outcome.error, context.truncationPolicy == .strict { throw error }
                isOpaque = isOpaque || painting.isOpaque(outcome)
            }
        }
        return canvas.freeze(isOpaque: isOpaque, colorSpace: colorSpace, scale: context.request.scale)
    }

    private func clear(_ frame: GIFFrame, on canvas: inout PixelBuffer) {
        let columns = frame.columns(on: header)
        for y in frame.rows(on: header) {
            canvas.withRow(y) { row in
                // SAFETY: the columns are on the canvas; zero bytes are pixels.
                unsafe row.withUnsafeMutableBytes { bytes in
                    let place = columns.lowerBound * 4..<columns.upperBound * 4
                    unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[place]).initializeMemory(
                        as: UInt8.self, repeating: 0)
                }
            }
        }
    }
}
