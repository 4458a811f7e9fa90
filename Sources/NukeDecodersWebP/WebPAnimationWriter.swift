internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Puts frames, each encoded as a file of its own, into one animated WebP (RFC 9649, 2.7.1).
struct WebPAnimationWriter {
    private let width: Int
    private let height: Int
    private let playCount: Int?
    private var frames = Data()
    private var hasAlpha = false

    /// Begins a canvas; `playCount` is how often all frames are shown, nil for ever.
    init(width: Int, height: Int, playCount: Int?) {
        (self.width, self.height, self.playCount) = (width, height, playCount)
    }

    /// Adds a frame out of a file that the library wrote.
    ///
    /// - Parameters:
    ///   - file: The frame's pixels.
    ///   - x: The column where it begins: an even one.
    ///   - y: The row where it begins: an even one.
    ///   - milliseconds: How long it is shown, in 24 bits.
    ///   - isOverlay: Whether it is drawn over what is there; else it replaces that.
    mutating func add(
        _ file: Data, x: Int, y: Int, milliseconds: Int, isOverlay: Bool
    ) throws(ImageEncodingError) {
        let codec = ImageDecoders.WebP.codec
        guard let header = try? WebPHeader(file.bytes, frameLimit: 1), let picture = header.still,
            picture.isComplete(in: file.count)
        else { throw .failed("the library wrote no picture", codec: codec) }
        hasAlpha = hasAlpha || picture.hasAlpha
        // Nothing is taken back afterwards: what differs is replaced by the next frame.
        let fields = [x / 2, y / 2, picture.width - 1, picture.height - 1, milliseconds]
        var contents = Data(fields.flatMap { WebPContainer.littleEndian($0, count: 3) })
        contents.append(isOverlay ? 0 : 2)
        let start = file.startIndex
        contents += file[start + picture.range.lowerBound..<start + picture.range.upperBound]
        if picture.range.count % 2 == 1 { contents.append(0) }
        frames += WebPContainer.chunk("ANMF", contents)
    }

    /// The file, with a profile and EXIF data in it.
    consuming func finish(profile: Data?, exif: Data?) throws(ImageEncodingError) -> Data {
        var flags: UInt8 = 0x02
        if profile != nil { flags |= 0x20 }
        if exif != nil { flags |= 0x08 }
        if hasAlpha { flags |= 0x10 }
        var body = WebPContainer.start(flags: flags, width: width, height: height)
        if let profile { body += WebPContainer.chunk("ICCP", profile) }
        // No background, and how often.
        let plays = playCount.map { min(max($0, 1), 0xFFFF) } ?? 0
        body += WebPContainer.chunk("ANIM", Data([0, 0, 0, 0] + WebPContainer.littleEndian(plays, count: 2)))
        body += frames
        if let exif { body += WebPContainer.chunk("EXIF", exif) }
        // The largest number of bytes that a file can tell (2.4).
        guard body.count <= Int(UInt32.max) - 10 else {
            throw .unsupported("\(body.count) bytes are more than a file can have", codec: ImageDecoders.WebP.codec)
        }
        return WebPContainer.chunk("RIFF", body)
    }
}
