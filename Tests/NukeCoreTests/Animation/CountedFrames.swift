import NukeCore
import NukeTestSupport

/// Frames whose first byte tells which they are; says which were decoded and which are still held by anybody.
final class CountedFrames: ImageFrameDecoding {
    private struct Seen: Sendable {
        weak var image: Bitmap?
        let byteCount: Int
    }

    private let side: Int
    private let broken: Set<Int>
    private let log = Lock<[Int]>([])
    private let made = Lock<[Seen]>([])
    private let willDecode: @Sendable (Int) -> Void
    let canvasByteCount: Int

    init(
        side: Int = 4, broken: Set<Int> = [], canvasByteCount: Int = 0,
        willDecode: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        (self.side, self.broken, self.canvasByteCount) = (side, broken, canvasByteCount)
        self.willDecode = willDecode
    }

    /// The frames that were decoded, in order.
    var decoded: [Int] { log.withLock { $0 } }

    /// Bytes of the frames that somebody holds.
    var liveByteCount: Int {
        made.withLock { $0.reduce(0) { $0 + ($1.image == nil ? 0 : $1.byteCount) } }
    }

    func frame(at index: Int) throws -> Bitmap {
        willDecode(index)
        log.withLock { $0.append(index) }
        if broken.contains(index) { throw ImageDecodingError.corruptData("a bad frame", codec: "Test") }
        guard var buffer = PixelBuffer(width: side, height: side) else { throw CancellationError() }
        buffer.withRow(0) { $0.storeBytes(of: UInt8(truncatingIfNeeded: index), toByteOffset: 0, as: UInt8.self) }
        let image = buffer.freeze()
        made.withLock { $0.append(Seen(image: image, byteCount: image.byteCount)) }
        return image
    }

    /// An animation of them.
    func animation(_ durations: [Double], playCount: Int? = nil) -> ImageAnimation {
        ImageAnimation(storedDurations: durations, playCount: playCount, frames: self)
    }
}

extension Bitmap {
    /// Which of `CountedFrames` it is.
    var number: Int { Int(bytes.unsafeLoad(fromByteOffset: 0, as: UInt8.self)) }
}
