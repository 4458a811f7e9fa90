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
    private let composer: Lock<FrameComposer>

    init(
        _ frames: [GIFFrame], _ header: GIFHeader, _ data: Data, context: ImageDecodingContext, colorSpace: ColorSpace
    ) {
        (self.frames, self.header, self.data) = (frames, header, data)
        self.colorSpace = colorSpace
        self.context = context
        let isStrict = context.truncationPolicy == .strict
        composer = Lock(
            FrameComposer(
                frames.map { frame in
                    let coversCanvas = frame.covers(header)
                    return FrameComposer.Frame(
                        disposal: frame.control.disposal, coversCanvas: coversCanvas,
                        // If rows may be lacking, that is not known.
                        isComplete: coversCanvas && frame.control.transparentIndex == nil && isStrict)
                }))
    }

    var compressedData: Data? { data }

    var canvasByteCount: Int { header.width * header.height * 4 * composer.withLock { $0.canvasCount } }

    func frame(at index: Int) throws(ImageDecodingError) -> Bitmap {
        let (codec, canvasBytes) = (ImageDecoders.GIF.codec, header.width * header.height * 4)
        // The canvas before, the one after it, and one that comes back.
        try context.limits.check(
            width: header.width, height: header.height, decodedBytes: canvasBytes,
            codecBytes: canvasBytes * 2 + GIFRowReader.byteCount(width: frames[index].width), codec: codec)
        // What ends the load must not end what is shown of it.
        let watch = DecodingWatch(limits: context.limits, codec: codec)
        return try composer.withLock { composer throws(ImageDecodingError) in
            try composer.frame(at: index) { base, steps throws(ImageDecodingError) in
                try self.image(base, steps, watch)
            }
        }
    }

    /// A copy of a picture of the canvas, with the steps done.
    private func image(
        _ base: Bitmap?, _ steps: [FrameComposer.Step], _ watch: DecodingWatch
    ) throws(ImageDecodingError) -> Bitmap {
        var isOpaque = base?.isOpaque ?? false
        guard var canvas = canvas(base) else {
            throw .outOfMemory(
                "no memory for \(header.width)x\(header.height) pixels", codec: ImageDecoders.GIF.codec)
        }
        for step in steps {
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

    private func canvas(_ base: Bitmap?) -> PixelBuffer? {
        guard let base else { return PixelBuffer(width: header.width, height: header.height) }
        return PixelBuffer(copying: base)
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
