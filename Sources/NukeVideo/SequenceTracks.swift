internal import NukeCore

/// What a file of HEIF tells of the sequence of pictures that it holds (ISO/IEC 23008-12, 7; ISO/IEC 14496-12, 8).
struct SequenceTracks: Sendable {
    /// One track, as far as it matters here.
    struct Track: Sendable {
        /// Which it is in the file, counted from 0.
        var index = 0
        var id: UInt64 = 0
        var handler: UInt32 = 0
        /// Columns and rows that are shown.
        var width = 0, height = 0
        /// Seconds that each picture is shown.
        var durations: [Double] = []
        /// Tracks that this one is auxiliary to.
        var auxiliaryTo: [UInt64] = []
        /// How often all is shown: 0 for ever; nil if it is not told.
        var storedPlayCount: Int?
    }

    let color: Track
    let alpha: Track?

    /// How often all pictures are shown; nil for ever, which is also what browsers make of files that don't tell.
    var playCount: Int? { color.storedPlayCount == 0 ? nil : color.storedPlayCount }

    /// Tracks that are looked at: more than any file has.
    private static let trackLimit = 32

    /// Nil if the file has no track of pictures, or its index has not come.
    ///
    /// Throws `limitExceeded` if there are more pictures than the limit allows.
    init?(_ bytes: RawSpan, limits: ImageLimits) throws(ImageDecodingError) {
        guard let movie = ISOBox.first("moov", in: bytes, 0..<bytes.byteCount), movie.end <= bytes.byteCount else {
            return nil
        }
        var tracks: [Track] = []
        let header = ISOBox.first("mvhd", in: bytes, movie.start..<movie.end)
        var place = movie.start
        var index = 0
        while let box = ISOBox(at: place, in: bytes, end: movie.end), box.end <= movie.end, index < Self.trackLimit {
            place = box.end
            guard box.kind == ISOBox.code("trak") else { continue }
            if var track = try Self.track(bytes, box.start..<box.end, header, limits) {
                track.index = index
                tracks.append(track)
            }
            index += 1
        }
        let pictures = ISOBox.code("pict"), video = ISOBox.code("vide")
        guard let color = tracks.first(where: { $0.handler == pictures || $0.handler == video }) else { return nil }
        self.color = color
        alpha = tracks.first {
            $0.handler == ISOBox.code("auxv") && $0.auxiliaryTo.contains(color.id) && !$0.durations.isEmpty
        }
    }

    private static func track(
        _ bytes: RawSpan, _ range: Range<Int>, _ movieHeader: ISOBox?, _ limits: ImageLimits
    ) throws(ImageDecodingError) -> Track? {
        guard let header = ISOBox.first("tkhd", in: bytes, range),
            let media = ISOBox.first("mdia", in: bytes, range),
            let mediaHeader = ISOBox.first("mdhd", in: bytes, media.range),
            let handler = ISOBox.first("hdlr", in: bytes, media.range), handler.has(12),
            let information = ISOBox.first("minf", in: bytes, media.range),
            let table = ISOBox.first("stbl", in: bytes, information.range),
            let times = ISOBox.first("stts", in: bytes, table.range)
        else { return nil }
        let isLong = header.has(1) && bytes.bigEndian(at: header.start, count: 1) == 1
        guard header.has(isLong ? 96 : 84) else { return nil }
        var track = Track()
        track.id = bytes.bigEndian(at: header.start + (isLong ? 20 : 12), count: 4)
        track.handler = UInt32(bytes.bigEndian(at: handler.start + 8, count: 4))
        // 16.16: whole pixels and parts.
        track.width = Int(bytes.bigEndian(at: header.start + (isLong ? 88 : 76), count: 4) >> 16)
        track.height = Int(bytes.bigEndian(at: header.start + (isLong ? 92 : 80), count: 4) >> 16)
        track.durations = try durations(bytes, times, scale: scale(bytes, mediaHeader), limits)
        if let references = ISOBox.first("tref", in: bytes, range),
            let auxiliary = ISOBox.first("auxl", in: bytes, references.range)
        {
            track.auxiliaryTo = stride(from: auxiliary.start, to: auxiliary.end - 3, by: 4).prefix(trackLimit).map {
                bytes.bigEndian(at: $0, count: 4)
            }
        }
        if let edits = ISOBox.first("edts", in: bytes, range), let list = ISOBox.first("elst", in: bytes, edits.range) {
            track.storedPlayCount = playCount(bytes, list, header, movieHeader)
        }
        return track
    }

    /// Ticks a second, of `mdhd` or `mvhd`.
    private static func scale(_ bytes: RawSpan, _ header: ISOBox) -> UInt64 {
        guard header.has(24) else { return 0 }
        let isLong = bytes.bigEndian(at: header.start, count: 1) == 1
        return bytes.bigEndian(at: header.start + (isLong ? 20 : 12), count: 4)
    }

    private static func durations(
        _ bytes: RawSpan, _ box: ISOBox, scale: UInt64, _ limits: ImageLimits
    ) throws(ImageDecodingError) -> [Double] {
        guard box.has(8), scale > 0 else { return [] }
        let count = Int(bytes.bigEndian(at: box.start + 4, count: 4))
        var durations: [Double] = []
        for place in stride(from: box.start + 8, to: box.end - 7, by: 8).prefix(count) {
            let frames = Int(bytes.bigEndian(at: place, count: 4))
            guard frames <= limits.frameCount - durations.count else {
                throw .limitExceeded("more than \(limits.frameCount) frames", codec: ImageDecoders.HEIFSequence.codec)
            }
            let seconds = Double(bytes.bigEndian(at: place + 4, count: 4)) / Double(scale)
            durations.append(contentsOf: repeatElement(seconds, count: frames))
        }
        return durations
    }

    /// How often an edit list has all shown: it is repeated as long as the track lasts, if its flag says so.
    private static func playCount(
        _ bytes: RawSpan, _ list: ISOBox, _ header: ISOBox, _ movieHeader: ISOBox?
    ) -> Int? {
        guard list.has(12) else { return nil }
        let isLong = bytes.bigEndian(at: list.start, count: 1) == 1
        guard bytes.bigEndian(at: list.start + 3, count: 1) & 1 == 1 else { return 1 }
        guard list.has(isLong ? 16 : 12) else { return nil }
        let once = bytes.bigEndian(at: list.start + 8, count: isLong ? 8 : 4)
        var lasts = [duration(bytes, header, long: 28, short: 20)]
        if let movieHeader, movieHeader.has(36) { lasts.append(duration(bytes, movieHeader, long: 24, short: 16)) }
        if lasts.contains(nil) || once == 0 { return 0 }
        let whole = lasts[0] ?? 0
        return Int(clamping: max(1, whole / once + (whole % once == 0 ? 0 : 1)))
    }

    /// The duration in a header; nil for ever.
    private static func duration(_ bytes: RawSpan, _ header: ISOBox, long: Int, short: Int) -> UInt64? {
        if bytes.bigEndian(at: header.start, count: 1) == 1 {
            let value = bytes.bigEndian(at: header.start + long, count: 8)
            return value == .max ? nil : value
        }
        let value = bytes.bigEndian(at: header.start + short, count: 4)
        return value == UInt64(UInt32.max) ? nil : value
    }
}

extension ISOBox {
    /// What is in it.
    var range: Range<Int> { start..<end }

    /// Whether there are so many bytes in it.
    func has(_ count: Int) -> Bool { end - start >= count }

    /// The first box of a name in a range, which must lie within the bytes; nil if there is none that lies within it.
    static func first(_ name: StaticString, in bytes: RawSpan, _ range: Range<Int>) -> ISOBox? {
        let kind = code(name)
        var place = range.lowerBound
        while let box = ISOBox(at: place, in: bytes, end: range.upperBound) {
            if box.kind == kind { return box.end <= range.upperBound ? box : nil }
            place = box.end
        }
        return nil
    }
}
