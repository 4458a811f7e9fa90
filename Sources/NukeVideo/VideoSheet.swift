internal import NukeCore

/// A storyboard: pictures that are evenly spread over a video, side by side in one.
struct VideoSheet {
    /// At most so many pictures.
    static let limit = 400

    let columns: Int
    let rows: Int

    /// Makes it, with the size that it would have unreduced: each picture at the middle of its part of the duration.
    ///
    /// - Parameters:
    ///   - finder: Where pictures come from.
    ///   - track: What is told of the video.
    ///   - target: The size in pixels at which a sheet of a size is made.
    func make(
        _ finder: VideoPosterFinder, _ track: VideoTrack, target: (ImageSize) -> (width: Int, height: Int)
    ) throws -> (Bitmap, ImageSize) {
        let codec = ImageDecoders.Video.codec
        guard columns > 0, rows > 0, columns <= Self.limit, rows <= Self.limit, columns * rows <= Self.limit else {
            throw ImageDecodingError.unsupported("a sheet has 1 to \(Self.limit) pictures", codec: codec)
        }
        guard let duration = track.duration else {
            throw ImageDecodingError.unsupported("it does not tell its duration", codec: codec)
        }
        let cell = track.size
        let whole = ImageSize(width: cell.width * Double(columns), height: cell.height * Double(rows))
        let (width, height) = target(whole)
        guard var sheet = PixelBuffer(width: width, height: height) else {
            throw ImageDecodingError.outOfMemory("no memory for \(width)x\(height) pixels", codec: codec)
        }
        var space = ColorSpace.sRGB
        for row in 0..<rows {
            for column in 0..<columns {
                let part = Double(row * columns + column) + 0.5
                let frame = try finder.frame(at: duration * part / Double(columns * rows))
                space = frame.colorSpace
                let (left, right) = (width * column / columns, width * (column + 1) / columns)
                let (top, bottom) = (height * row / rows, height * (row + 1) / rows)
                guard right > left, bottom > top else { continue }
                let picture = try finder.reader.pixels(
                    width: right - left, height: bottom - top, orientation: track.orientation
                ).freeze(isOpaque: true)
                sheet.draw(picture, left: left, top: top)
            }
        }
        return (sheet.freeze(isOpaque: true, colorSpace: space), whole)
    }
}

extension PixelBuffer {
    /// Puts a picture in, which must lie within.
    fileprivate mutating func draw(_ picture: Bitmap, left: Int, top: Int) {
        for y in 0..<picture.height {
            withRow(top + y) { target in
                target.copy(picture.row(y), at: left * 4)
            }
        }
    }
}

extension MutableRawSpan {
    /// Takes bytes over, which must have room from a place on.
    fileprivate mutating func copy(_ source: RawSpan, at place: Int) {
        precondition(place >= 0 && place + source.byteCount <= byteCount, "bytes beyond the row")
        // SAFETY: there is room for all of them, as is checked.
        unsafe withUnsafeMutableBytes { target in
            unsafe source.withUnsafeBytes { source in
                guard let from = source.baseAddress, let to = target.baseAddress else { return }
                unsafe (to + place).copyMemory(from: from, byteCount: source.count)
            }
        }
    }
}
