internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The frames of an animation, as the pipeline asks for them.
final class WebPFrames: ImageFrameDecoding {
    let compressedData: Data?
    let canvasByteCount: Int
    private let composer: Lock<WebPComposer>

    /// Creates the frames of a file; holds its data, and a canvas once a frame was asked for.
    init(_ file: WebPComposer.File) {
        composer = Lock(WebPComposer(file))
        compressedData = file.data
        canvasByteCount = file.width * file.height * PixelFormat.rgba8.bytesPerPixel
    }

    func frame(at index: Int) throws(ImageDecodingError) -> Bitmap {
        try composer.withLock { composer throws(ImageDecodingError) in
            try composer.frame(
                at: index, watch: DecodingWatch(limits: composer.limits, codec: ImageDecoders.WebP.codec))
        }
    }

    /// A frame in a load that can be cancelled.
    func frame(at index: Int, watch: DecodingWatch) throws(ImageDecodingError) -> Bitmap {
        try composer.withLock { composer throws(ImageDecodingError) in
            try composer.frame(at: index, watch: watch)
        }
    }
}

/// Composes frames on one canvas, which shows the last one that was asked for.
///
/// Where nothing is painted the canvas is transparent: the background colour of a file is a suggestion (RFC 9649, 2.7.1.1)
/// that, as in browsers, is not followed.
final class WebPComposer {
    /// What the frames are made of.
    struct File: Sendable {
        let data: Data
        /// Columns of the canvas as stored.
        let width: Int
        /// Rows of the canvas as stored.
        let height: Int
        let frames: [WebPHeader.Frame]
        /// What the canvas is turned by.
        let orientation: ImageOrientation
        let colorSpace: ColorSpace
        let limits: ImageLimits
        /// Whether a frame of which data is lacking is shown as far as it is there.
        let isLenient: Bool
    }

    /// What a frame may take.
    var limits: ImageLimits { file.limits }

    private let file: File
    private let canvasStates: [CanvasState]
    private var canvas: PixelBuffer?
    /// The frame that the canvas shows; nil if it may be anything.
    private var shown: Int?

    init(_ file: File) {
        self.file = file
        canvasStates = CanvasState.states(of: file.frames, width: file.width, height: file.height)
    }

    /// The canvas at a frame, turned upright.
    func frame(at index: Int, watch: DecodingWatch) throws(ImageDecodingError) -> Bitmap {
        precondition(file.frames.indices.contains(index), "there are \(file.frames.count) frames")
        if canvas == nil { canvas = PixelBuffer(width: file.width, height: file.height) }
        // Where this fails the canvas is gone, with what was begun on it.
        guard var canvas = canvas.take() else { throw outOfMemory }
        // There is such a frame, as the first is one.
        let start = canvasStates[...index].lastIndex { $0.startsAnew } ?? 0
        let next = shown.flatMap { (start...index).contains($0) ? $0 + 1 : nil } ?? start
        shown = nil
        for step in next..<index + 1 { try draw(step, on: &canvas, watch: watch) }
        let copy = canvas.copy(turnedBy: file.orientation)
        self.canvas = consume canvas
        shown = index
        guard let copy else { throw outOfMemory }
        return copy.freeze(isOpaque: canvasStates[index].isOpaque, colorSpace: file.colorSpace)
    }

    private func draw(
        _ index: Int, on canvas: inout PixelBuffer, watch: DecodingWatch
    ) throws(ImageDecodingError) {
        let frame = file.frames[index]
        let isOver = frame.isBlended && frame.picture.hasAlpha
        if canvasStates[index].startsAnew {
            if isOver || !frame.covers(width: file.width, height: file.height) { clear(nil, on: &canvas) }
        } else if file.frames[index - 1].isDisposed {
            clear(file.frames[index - 1], on: &canvas)
        }
        if isOver, !canvasStates[index].startsAnew {
            try blend(frame, onto: &canvas, watch: watch)
        } else {
            let (offset, bytesPerRow) = (offset(of: frame), canvas.bytesPerRow)
            try canvas.withBytes { (bytes: inout MutableRawSpan) throws(ImageDecodingError) in
                try decode(frame, into: &bytes, at: offset, bytesPerRow: bytesPerRow, watch: watch)
            }
        }
    }

    /// Decodes a frame beside the canvas and puts it over what is there.
    private func blend(
        _ frame: WebPHeader.Frame, onto canvas: inout PixelBuffer, watch: DecodingWatch
    ) throws(ImageDecodingError) {
        guard var pixels = PixelBuffer(width: frame.picture.width, height: frame.picture.height) else {
            throw outOfMemory
        }
        let (bytesPerRow, canvasBytesPerRow) = (pixels.bytesPerRow, canvas.bytesPerRow)
        try pixels.withBytes { (bytes: inout MutableRawSpan) throws(ImageDecodingError) in
            try decode(frame, into: &bytes, at: 0, bytesPerRow: bytesPerRow, watch: watch)
        }
        let offset = offset(of: frame)
        canvas.withBytes { below in
            for y in 0..<frame.picture.height {
                pixels.withRow(y) { row in
                    row.bytes.blend(onto: &below, at: offset + y * canvasBytesPerRow)
                }
            }
        }
    }

    private func decode(
        _ frame: WebPHeader.Frame, into pixels: inout MutableRawSpan, at offset: Int, bytesPerRow: Int,
        watch: DecodingWatch
    ) throws(ImageDecodingError) {
        var session = try WebPSession(frame.picture, bytesPerRow: bytesPerRow)
        try session.read(file.data.bytes, into: &pixels, at: offset) { _ throws(ImageDecodingError) in
            try watch.check()
        }
        guard session.isFinished || (file.isLenient && session.rowCount > 0) else {
            throw .truncated("the data ends within a frame", codec: ImageDecoders.WebP.codec)
        }
    }

    /// Makes the rectangle of a frame transparent; nil: all of the canvas.
    private func clear(_ frame: WebPHeader.Frame?, on canvas: inout PixelBuffer) {
        let x = frame?.x ?? 0
        let y = frame?.y ?? 0
        let byteCount = (frame?.picture.width ?? file.width) * PixelFormat.rgba8.bytesPerPixel
        for row in y..<y + (frame?.picture.height ?? file.height) {
            canvas.withRow(row) { pixels in pixels.clear(x * PixelFormat.rgba8.bytesPerPixel, byteCount) }
        }
    }

    /// Where a frame's first pixel is on the canvas, in bytes.
    private func offset(of frame: WebPHeader.Frame) -> Int {
        (frame.y * file.width + frame.x) * PixelFormat.rgba8.bytesPerPixel
    }

    private var outOfMemory: ImageDecodingError {
        .outOfMemory("no memory for \(file.width)x\(file.height) pixels", codec: ImageDecoders.WebP.codec)
    }
}

/// What is known of the canvas at a frame, before any pixel is decoded.
struct CanvasState {
    /// Whether nothing of the frames before is seen at this one.
    let startsAnew: Bool
    /// Whether no pixel is transparent.
    let isOpaque: Bool

    /// The states at all frames of an animation.
    static func states(of frames: [WebPHeader.Frame], width: Int, height: Int) -> [CanvasState] {
        var states: [CanvasState] = []
        var previous: WebPHeader.Frame?
        for frame in frames {
            let covers = frame.covers(width: width, height: height)
            let replaces = covers && !(frame.isBlended && frame.picture.hasAlpha)
            // Cleared is all that there was: the frame was all, or nothing was beside it.
            let isCleared = previous.map {
                $0.isDisposed && ($0.covers(width: width, height: height) || states.last?.startsAnew == true)
            }
            let before = states.last?.isOpaque == true && previous?.isDisposed == false
            let leaves = frame.isBlended || !frame.picture.hasAlpha
            states.append(
                CanvasState(
                    startsAnew: replaces || isCleared ?? true,
                    isOpaque: (covers && !frame.picture.hasAlpha) || (before && leaves)))
            previous = frame
        }
        return states
    }
}

extension WebPHeader.Frame {
    /// Whether it takes all of a canvas.
    func covers(width: Int, height: Int) -> Bool { picture.width == width && picture.height == height }
}

extension MutableRawSpan {
    /// Zeros a part.
    fileprivate mutating func clear(_ offset: Int, _ count: Int) {
        precondition(offset >= 0 && count >= 0 && count <= byteCount - offset, "bytes out of bounds")
        // SAFETY: the part lies within the span, as was checked.
        unsafe withUnsafeMutableBytes { bytes in
            _ = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<offset + count])
                .initializeMemory(as: UInt8.self, repeating: 0)
        }
    }
}
