internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The frames of an animated PNG, as its control chunks tell (PNG, third edition, 11.3.6): no pixel is read.
struct PNGAnimation {
    /// How often all frames are shown, as stored: 0 for ever.
    let storedPlayCount: Int
    /// The frames that are there to their last chunk.
    private(set) var frames: [PNGFrame] = []
    /// Whether the data ends within a frame.
    private(set) var isTruncated = false

    /// Whether it shows anything else than the still picture: several frames, or one that is not that picture.
    var addsToStill: Bool { frames.count > 1 || frames.first?.isDefaultImage == false }

    /// Seconds that each frame is shown, as stored.
    var delays: [Double] { frames.map(\.delay) }

    /// How often all frames are shown; nil for ever.
    var playCount: Int? { storedPlayCount == 0 ? nil : storedPlayCount }

    /// Goes through all chunks; nil if the file declares no animation.
    ///
    /// What breaks the rules ends the animation: a wrong sequence number, a frame beyond the canvas or without data, a
    /// control chunk with a wrong checksum. The frames before count. Throws if there are more than the limit allows.
    init?(_ bytes: RawSpan, _ header: PNGHeader, limits: ImageLimits) throws(ImageDecodingError) {
        guard !header.isAppleVariant, let control = Self.control(bytes, header) else { return nil }
        storedPlayCount = control.playCount
        var walk = Walk(header)
        while frames.count < control.frameCount, let frame = walk.next(in: bytes) {
            guard frames.count < limits.frameCount else {
                throw .limitExceeded("more than \(frames.count) frames", codec: ImageDecoders.PNG.codec)
            }
            frames.append(frame)
        }
        isTruncated = walk.isTruncated
    }

    /// What the first sound `acTL` chunk before the picture says.
    private static func control(_ bytes: RawSpan, _ header: PNGHeader) -> (frameCount: Int, playCount: Int)? {
        var place = header.end
        while let chunk = PNGChunk(at: place, in: bytes), chunk.kind != .picture, chunk.kind != .end {
            place = chunk.end
            guard chunk.kind == .animation, chunk.count == 8, chunk.isIntact(in: bytes) else { continue }
            let (frames, plays) = (bytes.bigEndian(at: chunk.start), bytes.bigEndian(at: chunk.start + 4))
            // Numbers have 31 bits (7.1).
            return frames > Int32.max || plays > Int32.max ? nil : (Int(frames), Int(plays))
        }
        return nil
    }

    /// Goes from frame to frame.
    private struct Walk {
        private(set) var isTruncated = false
        private let header: PNGHeader
        private var place: Int
        private var sequenceNumber: UInt32 = 0
        private var hasSeenPicture = false
        private var begun: PNGFrame?

        init(_ header: PNGHeader) {
            self.header = header
            place = header.end
        }

        /// The next frame that is whole; nil if there are no more.
        mutating func next(in bytes: RawSpan) -> PNGFrame? {
            while let chunk = PNGChunk(at: place, in: bytes) {
                let start = place
                place = chunk.end
                switch chunk.kind {
                case .picture:
                    hasSeenPicture = true
                    if begun?.isDefaultImage == true { begun?.extend(by: start..<chunk.end) }
                case .frameData:
                    guard takesNumber(chunk, in: bytes), begun?.isDefaultImage == false else { return nil }
                    begun?.extend(by: start..<chunk.end)
                case .frameControl:
                    let whole = begun
                    guard whole?.chunks.isEmpty != true, takesNumber(chunk, in: bytes) else { return nil }
                    begun = PNGFrame(chunk, in: bytes, header, isDefaultImage: !hasSeenPicture)
                    // What breaks the rules there ends what follows, not what was before.
                    if begun == nil || !chunk.isIntact(in: bytes) { (begun, place) = (nil, bytes.byteCount) }
                    if let whole { return whole }
                case .end:
                    place = bytes.byteCount
                default:
                    break
                }
            }
            let last = begun
            begun = nil
            isTruncated = place < bytes.byteCount
            return isTruncated || last?.chunks.isEmpty != false ? nil : last
        }

        /// Whether a chunk has the number that is due (11.3.6.4).
        private mutating func takesNumber(_ chunk: PNGChunk, in bytes: RawSpan) -> Bool {
            guard chunk.count >= 4, bytes.bigEndian(at: chunk.start) == sequenceNumber else { return false }
            sequenceNumber += 1
            return true
        }
    }
}

/// One frame of an animated PNG, as its `fcTL` chunk tells.
struct PNGFrame {
    /// How the frame is drawn on what is there.
    enum Blending: UInt8 {
        case replace, over
    }

    /// Columns to the left of it.
    let left: Int
    /// Rows above it.
    let top: Int
    /// Columns.
    let width: Int
    /// Rows.
    let height: Int
    /// Seconds that it is shown, as stored.
    let delay: Double
    let disposal: FrameComposer.Disposal
    let blending: Blending
    /// Whether its pixels are those of the still picture.
    let isDefaultImage: Bool
    /// Where its first chunk of pixels begins and its last one ends.
    private(set) var chunks = 0..<0

    /// Reads a control chunk; nil if it says what it may not.
    fileprivate init?(_ chunk: PNGChunk, in bytes: RawSpan, _ header: PNGHeader, isDefaultImage: Bool) {
        guard chunk.count == 26 else { return nil }
        let numbers = (1..<5).map { Int(bytes.bigEndian(at: chunk.start + 4 * $0)) }
        (width, height, left, top) = (numbers[0], numbers[1], numbers[2], numbers[3])
        guard width > 0, height > 0, left + width <= header.width, top + height <= header.height,
            !isDefaultImage || width == header.width && height == header.height,
            let disposal = FrameComposer.Disposal(operation: bytes.byte(at: chunk.start + 24)),
            let blending = Blending(rawValue: bytes.byte(at: chunk.start + 25))
        else { return nil }
        let parts = bytes.bigEndian(at: chunk.start + 20)
        // A denominator of 0 stands for 100.
        delay = Double(parts >> 16) / (parts & 0xFFFF == 0 ? 100 : Double(parts & 0xFFFF))
        (self.disposal, self.blending, self.isDefaultImage) = (disposal, blending, isDefaultImage)
    }

    fileprivate mutating func extend(by range: Range<Int>) {
        chunks = (chunks.isEmpty ? range.lowerBound : chunks.lowerBound)..<range.upperBound
    }

    /// Whether it lies over all of the canvas.
    func covers(_ header: PNGHeader) -> Bool { width == header.width && height == header.height }

    /// The frame as a file of its own; throws if a chunk of it is damaged.
    func file(from bytes: RawSpan, _ header: PNGHeader) throws(ImageDecodingError) -> Data {
        var file = Data(PNGHeader.signature)
        file.reserveCapacity(chunks.count + 2048)
        var fields = Data(capacity: 13)
        fields.append(bigEndian: UInt32(width))
        fields.append(bigEndian: UInt32(height))
        fields.append(bytes.extracting(header.end - 9..<header.end - 4))
        file.append(chunk: .header, fields.bytes)
        for chunk in [header.palette, header.transparency].compactMap({ $0 }) { file.append(bytes.extracting(chunk)) }
        var place = chunks.lowerBound
        while place < chunks.upperBound, let chunk = PNGChunk(at: place, in: bytes) {
            place = chunk.end
            guard chunk.kind == .frameData else { continue }
            guard chunk.isIntact(in: bytes) else {
                throw .corruptData("a frame's data has a wrong checksum", codec: ImageDecoders.PNG.codec)
            }
            // A chunk of nothing but its number has no pixels.
            if chunk.count > 4 {
                file.append(chunk: .picture, bytes.extracting(chunk.start + 4..<chunk.start + chunk.count))
            }
        }
        file.append(chunk: .end, RawSpan())
        return file
    }
}

extension FrameComposer.Disposal {
    /// Reads `dispose_op` (PNG, third edition, 11.3.6.2); nil for what is not defined.
    fileprivate init?(operation: UInt8) {
        switch operation {
        case 0: self = .keep
        case 1: self = .clear
        case 2: self = .restore
        default: return nil
        }
    }
}
