internal import NukeCore

/// Finds the picture that stands for a video.
struct VideoPosterFinder {
    /// How far the first picture that is not black is looked for: so many pictures, and so many seconds.
    static let bound = (pictureCount: 150, seconds: 5.0)

    let reader: VideoReader
    let source: VideoSource

    /// The first picture that is not black, rendered; of a video that is black throughout the bound, the first of all.
    ///
    /// - Parameter render: Makes the picture of what the reader has decoded last.
    func firstVisible<Picture>(
        render: (VideoFrame) throws -> Picture, isBlack: (Picture) -> Bool
    ) throws -> Picture {
        guard let first = try firstFrame() else { throw noPicture }
        let picture = try render(first)
        guard isBlack(picture), !reader.track.isPicture else { return picture }
        do {
            try reader.seek(to: 0, in: source)
            var count = 0
            while count < Self.bound.pictureCount, let frame = try reader.next(in: source),
                frame.time <= Self.bound.seconds
            {
                count += 1
                if count > 1, try !isBlackNow(frame) { return try render(frame) }
            }
        } catch let error as ImageDecodingError where error.code == .corruptData || error.code == .truncated {
            // What can be seen of it is black.
        }
        return picture
    }

    /// The picture that is shown at a time; of one behind the end, the last.
    func frame(at seconds: Double) throws -> VideoFrame {
        if !(seconds > 0), let frame = try firstFrame() { return frame }
        do {
            try reader.seek(to: seconds, in: source)
            if let frame = try readOn(to: seconds) { return frame }
        } catch let error as ImageDecodingError where error.code == .corruptData || error.code == .truncated {
            // Seeking goes by what the file says, which may be wrong.
        }
        try reader.restart(in: source)
        guard let frame = try readOn(to: seconds) else { throw noPicture }
        return frame
    }

    /// Decodes pictures up to the one that is shown at a time, or the last.
    private func readOn(to seconds: Double) throws -> VideoFrame? {
        var last: VideoFrame?
        let step = 1 / (reader.track.frameRate ?? 25)
        while let frame = try reader.next(in: source) {
            last = frame
            let end = frame.time + (frame.duration > 0 ? frame.duration : step)
            if end > seconds + 0.000_5 { break }
        }
        return last
    }

    /// The very first picture, without those behind it being decoded, where that will do.
    private func firstFrame() throws -> VideoFrame? {
        guard let frame = try reader.next(in: source, isLast: true) else { return nil }
        guard frame.isInterlaced || frame.isDamaged, !reader.track.isPicture else { return frame }
        // The other half of it may be in the next packet.
        try reader.seek(to: 0, in: source)
        return try reader.next(in: source)
    }

    private var noPicture: ImageDecodingError {
        .corruptData("no picture of it can be decoded", codec: ImageDecoders.Video.codec)
    }

    /// Whether the picture that was decoded last is black, by a small version of it.
    private func isBlackNow(_ frame: VideoFrame) throws -> Bool {
        let pixels = try reader.pixels(
            width: min(64, max(1, frame.width)), height: min(64, max(1, frame.height)), orientation: .up)
        return pixels.freeze(isOpaque: true).isBlack
    }
}

extension Bitmap {
    /// Whether at least 98 of 100 of its pixels have less than an eighth of full luma, out of a grid of some.
    var isBlack: Bool {
        let (rowStep, columnStep) = (max(1, height / 90), max(1, width / 160))
        var (count, darkCount) = (0, 0)
        for y in stride(from: 0, to: height, by: rowStep) {
            let row = row(y)
            for x in stride(from: 0, to: width, by: columnStep) {
                // SAFETY: the load checks the bounds; any bytes are numbers.
                let pixel = unsafe row.unsafeLoadUnaligned(fromByteOffset: x * 4, as: SIMD4<UInt8>.self)
                count += 1
                // About the weights of BT.709.
                if (Int(pixel.x) * 54 + Int(pixel.y) * 183 + Int(pixel.z) * 19) >> 8 < 32 { darkCount += 1 }
            }
        }
        return darkCount * 100 >= count * 98
    }
}
