internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Puts frames, each compressed as a file of its own, into one animated PNG (PNG, third edition, 4.9 and 11.3.6).
struct PNGAnimationWriter {
    private var file = Data()
    private var sequenceNumber: UInt32 = 0

    /// How a frame is shown.
    struct Control {
        /// Its columns on the canvas.
        let columns: Range<Int>
        /// Its rows on the canvas.
        let rows: Range<Int>
        /// Seconds that it is shown.
        let duration: Double
        /// Whether it is drawn over what is there; else it replaces that.
        let isOverlay: Bool
    }

    /// Begins with the first frame, which is the still picture too: all chunks of its file come along.
    ///
    /// - Parameter playCount: How often all frames are shown; nil for ever.
    init(first picture: Data, _ control: Control, frameCount: Int, playCount: Int?) {
        let bytes = picture.bytes
        file.append(bytes.extracting(0..<PNGHeader.signature.count))
        var (place, hasPicture) = (PNGHeader.signature.count, false)
        while let chunk = PNGChunk(at: place, in: bytes), chunk.kind != .end {
            if chunk.kind == .picture, !hasPicture {
                hasPicture = true
                var fields = Data(capacity: 8)
                fields.append(bigEndian: UInt32(clamping: frameCount))
                fields.append(bigEndian: playCount.map { UInt32(min(max($0, 1), Int(Int32.max))) } ?? 0)
                file.append(chunk: .animation, fields.bytes)
                append(control)
            }
            file.append(bytes.extracting(place..<chunk.end))
            place = chunk.end
        }
    }

    /// Adds a frame, compressed as a file of the same kind of pixels.
    mutating func add(_ picture: Data, _ control: Control) {
        let bytes = picture.bytes
        append(control)
        var place = PNGHeader.signature.count
        while let chunk = PNGChunk(at: place, in: bytes) {
            if chunk.kind == .picture {
                var contents = Data(capacity: chunk.count + 4)
                contents.append(bigEndian: sequenceNumber)
                contents.append(bytes.extracting(chunk.start..<chunk.start + chunk.count))
                file.append(chunk: .frameData, contents.bytes)
                sequenceNumber += 1
            }
            place = chunk.end
        }
    }

    /// Ends the file.
    consuming func finish() -> Data {
        file.append(chunk: .end, RawSpan())
        return file
    }

    private mutating func append(_ control: Control) {
        var fields = Data(capacity: 26)
        let numbers = [
            control.columns.count, control.rows.count, control.columns.lowerBound, control.rows.lowerBound,
        ]
        for number in [sequenceNumber] + numbers.map({ UInt32(clamping: $0) }) { fields.append(bigEndian: number) }
        let delay = Self.fraction(control.duration)
        fields.append(bigEndian: UInt32(delay.seconds) << 16 | UInt32(delay.parts))
        // APNG_DISPOSE_OP_NONE: nothing is taken back afterwards, what differs is replaced by the next frame.
        fields.append(0 as UInt8)
        fields.append((control.isOverlay ? PNGFrame.Blending.over : .replace).rawValue)
        file.append(chunk: .frameControl, fields.bytes)
        sequenceNumber += 1
    }

    /// The fraction of two numbers of 16 bits that is nearest to a duration, or a whole number of milliseconds if it is one.
    static func fraction(_ duration: Double) -> (seconds: UInt16, parts: UInt16) {
        guard duration.isFinite, duration < 65_535 else { return (65_535, 1) }
        let milliseconds = (duration * 1000).rounded()
        if milliseconds <= 65_535, abs(duration * 1000 - milliseconds) < 1e-6 {
            return (UInt16(max(milliseconds, 0)), 1000)
        }
        // The convergents of the continued fraction, as far as both numbers fit.
        var (rest, last, best) = (duration, (1.0, 0.0), (duration.rounded(.down), 1.0))
        while rest - rest.rounded(.down) > 1e-9, abs(best.0 / best.1 - duration) > 1e-12 {
            rest = 1 / (rest - rest.rounded(.down))
            let whole = rest.rounded(.down)
            let next = (whole * best.0 + last.0, whole * best.1 + last.1)
            guard next.0 <= 65_535, next.1 <= 65_535 else { break }
            (last, best) = (best, next)
        }
        return (UInt16(best.0), UInt16(best.1))
    }
}
