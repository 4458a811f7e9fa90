internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Goes from block to block of a GIF, by the lengths they tell: nothing is decompressed.
struct GIFWalk {
    /// The loop count of the first extension that has one.
    private(set) var loopCount: Int?
    /// The offset of the blocks of the ICC profile.
    private(set) var profileStart: Int?

    private var offset: Int
    private var frameStart: Int?
    private let palette: Range<Int>?

    /// What comes next.
    enum Step {
        case frame(GIFFrame)
        /// The trailer, or what is no block.
        case end
        /// The data ends first.
        case truncated
    }

    init(_ header: GIFHeader) {
        offset = header.end
        palette = header.palette
    }

    /// Goes to the first frame; throws if there is none.
    mutating func first(in bytes: RawSpan) throws(ImageDecodingError) -> GIFFrame {
        switch next(in: bytes) {
        case .frame(let frame): return frame
        case .end: throw .corruptData("there is no frame", codec: ImageDecoders.GIF.codec)
        case .truncated: throw .truncated("the data ends before the first frame", codec: ImageDecoders.GIF.codec)
        }
    }

    /// Goes to the next frame; what stands before it is noted.
    mutating func next(in bytes: RawSpan) -> Step {
        if let start = frameStart {
            guard let end = Self.endOfBlocks(from: start, in: bytes) else { return .truncated }
            (offset, frameStart) = (end, nil)
        }
        var control = GIFFrame.Control()
        while offset < bytes.byteCount {
            switch bytes.byte(at: offset) {
            case 0x2C:
                guard let frame = GIFFrame(at: offset, in: bytes, control: control, palette: palette) else {
                    return .truncated
                }
                frameStart = frame.start + 1
                return .frame(frame)
            case 0x21:
                guard offset + 2 < bytes.byteCount, let end = Self.endOfBlocks(from: offset + 2, in: bytes) else {
                    return .truncated
                }
                take(label: bytes.byte(at: offset + 1), at: offset + 2, in: bytes, control: &control)
                offset = end
            case 0:
                // One terminator too many.
                offset += 1
            default:
                return .end
            }
        }
        return .truncated
    }

    /// Whether the frame that `next` gave is there to its last byte.
    func isFrameComplete(in bytes: RawSpan) -> Bool {
        frameStart.map { Self.endOfBlocks(from: $0, in: bytes) != nil } ?? false
    }

    /// The ICC profile, if there is one and it is not larger than told.
    func profile(in bytes: RawSpan, limit: Int) -> Data? {
        guard var offset = profileStart else { return nil }
        var profile = Data()
        while offset < bytes.byteCount {
            let count = Int(bytes.byte(at: offset))
            if count == 0 { return profile }
            guard count < bytes.byteCount - offset, profile.count + count <= limit else { return nil }
            // SAFETY: the bytes are copied while the span lasts.
            unsafe bytes.extracting(offset + 1..<offset + 1 + count).withUnsafeBytes {
                unsafe profile.append(contentsOf: $0)
            }
            offset += 1 + count
        }
        return nil
    }

    /// Takes what counts from an extension, all of which is there.
    private mutating func take(
        label: UInt8, at offset: Int, in bytes: RawSpan, control: inout GIFFrame.Control
    ) {
        let count = Int(bytes.byte(at: offset))
        switch label {
        case 0xF9 where count >= 4:
            let flags = bytes.byte(at: offset + 1)
            control.delay = bytes.number(at: offset + 2)
            control.transparentIndex = flags & 1 == 0 ? nil : bytes.byte(at: offset + 4)
            control.disposal = FrameComposer.Disposal(flags: flags)
        case 0xFF where count == 11:
            let name = (0..<11).map { bytes.byte(at: offset + 1 + $0) }
            let contents = offset + 12
            if name.elementsEqual("NETSCAPE2.0".utf8) || name.elementsEqual("ANIMEXTS1.0".utf8) {
                takeLoopCount(at: contents, in: bytes)
            } else if name.elementsEqual("ICCRGBG1012".utf8), profileStart == nil {
                profileStart = contents
            }
        case 0x01:
            // Plain text is a picture too, to which the control extension before it belongs.
            control = GIFFrame.Control()
        default:
            break
        }
    }

    private mutating func takeLoopCount(at start: Int, in bytes: RawSpan) {
        var offset = start
        while loopCount == nil {
            let count = Int(bytes.byte(at: offset))
            if count == 0 { return }
            if count >= 3, bytes.byte(at: offset + 1) & 7 == 1 { loopCount = bytes.number(at: offset + 2) }
            offset += 1 + count
        }
    }

    /// The offset behind the block of no bytes that ends a row of blocks; nil if the data ends before.
    private static func endOfBlocks(from start: Int, in bytes: RawSpan) -> Int? {
        var offset = start
        while offset < bytes.byteCount {
            let count = Int(bytes.byte(at: offset))
            offset += 1 + count
            if count == 0 { return offset }
        }
        return nil
    }
}
