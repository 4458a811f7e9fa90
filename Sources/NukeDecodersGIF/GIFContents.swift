internal import NukeCore

/// What a GIF holds, without any of its pixels.
struct GIFContents {
    let header: GIFHeader
    /// The frames that count; at least one.
    let frames: [GIFFrame]
    /// Where reading came to its end.
    let walk: GIFWalk
    /// Whether the data ends within a frame.
    let isTruncated: Bool

    /// Reads the header and goes through all blocks.
    ///
    /// The first frame counts in any case. Throws if there is none, or more than the limit allows.
    init(_ bytes: RawSpan, _ context: ImageDecodingContext) throws(ImageDecodingError) {
        header = try GIFHeader(bytes)
        var walk = GIFWalk(header)
        var frames = [try walk.first(in: bytes)]
        var isTruncated = !walk.isFrameComplete(in: bytes)
        while case .frame(let frame) = walk.next(in: bytes) {
            isTruncated = !walk.isFrameComplete(in: bytes)
            if isTruncated, context.truncationPolicy == .strict { break }
            guard frames.count < context.limits.frameCount else {
                throw .limitExceeded("more than \(frames.count) frames", codec: ImageDecoders.GIF.codec)
            }
            frames.append(frame)
        }
        (self.frames, self.walk, self.isTruncated) = (frames, walk, isTruncated)
    }

    /// Seconds that each frame is to be shown, as stored.
    var delays: [Double] { frames.map { Double($0.control.delay) / 100 } }

    /// How often all frames are shown: once without an extension that tells; nil for ever.
    var playCount: Int? {
        guard let count = walk.loopCount else { return 1 }
        return count == 0 ? nil : count + 1
    }

    /// Whether any frame as it is shown may have pixels that are not opaque.
    var hasAlpha: Bool {
        !frames[0].covers(header) || frames.contains { $0.control.transparentIndex != nil }
            || frames.dropLast().contains { $0.control.disposal == .clear }
    }
}
