internal import NukeCore

/// How the poster of a video is made: its size, and what it takes.
struct VideoRendering {
    private let track: VideoTrack
    private let context: ImageDecodingContext
    private let poster: ImageRequest.VideoPoster

    init(_ track: VideoTrack, _ context: ImageDecodingContext, _ poster: ImageRequest.VideoPoster) {
        self.track = track
        self.context = context
        self.poster = poster
    }

    /// Bytes that decoding holds at once: the poster, twice where it is turned, and pictures that others are made from.
    var workingSetBytes: Int {
        let target = target(of: track.size)
        let (pixels, overflow) = target.width.multipliedReportingOverflow(by: target.height)
        let (bytes, byteOverflow) = pixels.multipliedReportingOverflow(by: isDirect(target.width) ? 4 : 8)
        return overflow || byteOverflow ? .max : bytes.addingReportingOverflow(codecBytes).partialValue
    }

    private func isDirect(_ width: Int) -> Bool { track.orientation == .up && width % 16 == 0 }

    /// Pictures that the decoder holds: mostly not more than six, with chroma at half size.
    private var codecBytes: Int {
        let (pixels, overflow) = track.codedWidth.multipliedReportingOverflow(by: track.codedHeight)
        return overflow || pixels > .max / 16 ? .max / 4 : pixels * 9
    }

    /// Throws if the pictures are larger than the limits allow.
    func check(_ limits: ImageLimits) throws(ImageDecodingError) {
        try limits.check(
            width: track.codedWidth, height: track.codedHeight, decodedBytes: 0, codec: ImageDecoders.Video.codec)
        let size = track.size
        try limits.check(
            width: Int(size.width), height: Int(size.height), decodedBytes: workingSetBytes,
            codec: ImageDecoders.Video.codec)
    }

    /// The size in pixels at which pictures of a size are made: that of the hint, or their own.
    private func target(of size: ImageSize) -> (width: Int, height: Int) {
        var target = size
        if let hint = context.decodeHint(for: size), hint.width <= size.width, hint.height <= size.height {
            target = hint
        }
        return (max(1, Int(target.width.rounded())), max(1, Int(target.height.rounded())))
    }

    /// The poster with the size that it has unreduced.
    func poster(_ reader: VideoReader, _ source: VideoSource) throws -> (Bitmap, ImageSize) {
        let finder = VideoPosterFinder(reader: reader, source: source)
        switch poster {
        case .firstVisible:
            return try finder.firstVisible(render: { try render(reader, $0) }, isBlack: { $0.0.isBlack })
        case .time(let seconds): return try render(reader, finder.frame(at: seconds))
        case .fraction(let fraction): return try render(reader, finder.frame(at: time(of: fraction)))
        case .sheet(let columns, let rows):
            return try VideoSheet(columns: columns, rows: rows).make(finder, track) { size in target(of: size) }
        }
    }

    private func time(of fraction: Double) throws -> Double {
        guard fraction > 0 else { return 0 }
        guard let duration = track.duration else {
            throw ImageDecodingError.unsupported("it does not tell its duration", codec: ImageDecoders.Video.codec)
        }
        return duration * min(fraction, 1)
    }

    private func render(_ reader: VideoReader, _ frame: VideoFrame) throws -> (Bitmap, ImageSize) {
        try checkDamage(frame)
        var track = track
        track.adopt(frame)
        let (width, height) = target(of: track.size)
        try context.limits.check(width: width, height: height, codec: ImageDecoders.Video.codec)
        let pixels = try reader.pixels(width: width, height: height, orientation: track.orientation)
        return (pixels.freeze(isOpaque: true, colorSpace: frame.colorSpace), track.size)
    }

    private func checkDamage(_ frame: VideoFrame) throws(ImageDecodingError) {
        guard frame.isDamaged, context.truncationPolicy == .strict else { return }
        throw .corruptData("a picture of it is damaged", codec: ImageDecoders.Video.codec)
    }
}

extension VideoTrack {
    /// Takes the shape of pixels from the coding, where the container does not tell it.
    mutating func adopt(_ frame: VideoFrame) {
        if aspect.0 <= 0 || aspect.1 <= 0 { aspect = frame.aspect }
    }
}

extension VideoFrame {
    /// The colours that its code points name.
    var colorSpace: ColorSpace { .sRGB }
}
