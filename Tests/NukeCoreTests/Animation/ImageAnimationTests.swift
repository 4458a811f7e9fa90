import NukeCore
import NukeTestSupport
import Testing

@Suite("Image animation", .timeLimit(.minutes(5)))
struct ImageAnimationTests {
    /// Frames, each one column wider than the one before; one of them can't be decoded.
    private final class Frames: ImageFrameDecoding {
        let asked = Locked<[Int]>([])
        let broken: Int?

        init(broken: Int? = nil) { self.broken = broken }

        static func picture(width: Int) throws -> Bitmap {
            guard let buffer = PixelBuffer(width: width, height: 1) else { throw CancellationError() }
            return buffer.freeze()
        }

        func frame(at index: Int) throws -> Bitmap {
            asked.withLock { $0.append(index) }
            guard index != broken else { throw ImageDecodingError.corruptData("a bad frame", codec: "Test") }
            return try Self.picture(width: index + 1)
        }
    }

    @Test("durations of up to 10 ms play as 100 ms, frame by frame; longer ones as stored [row 146]")
    func durations() {
        let animation = ImageAnimation(storedDurations: [0, 0.01, 0.02, 1.5], playCount: 3, frames: Frames())
        #expect(animation.durations == [0.1, 0.1, 0.02, 1.5])
        #expect(animation.duration == 0.1 + 0.1 + 0.02 + 1.5)
        #expect(animation.frameCount == 4)
        #expect(animation.playCount == 3)
    }

    @Test("frames are decoded when asked for, in any order, and one that fails leaves the others")
    func frames() async throws {
        let frames = Frames(broken: 1)
        let animation = ImageAnimation(storedDurations: [1, 1, 1], playCount: nil, frames: frames)
        #expect(frames.asked.withLock { $0.isEmpty })
        #expect(try await animation.frame(at: 2).width == 3)
        await #expect(throws: ImageDecodingError.self) { try await animation.frame(at: 1) }
        #expect(try await animation.frame(at: 0).width == 1)
        #expect(frames.asked.withLock { $0 } == [2, 1, 0])
    }

    @Test("a container's animation stays with its copies, and with the one that is changed")
    func container() throws {
        let animation = ImageAnimation(storedDurations: [1, 1], playCount: nil, frames: Frames())
        var container = ImageContainer(image: try Frames.picture(width: 1))
        #expect(container.animation == nil)
        container.animation = animation
        var copy = container
        copy.isPreview = true
        #expect(copy.animation === animation)
        #expect(container.animation === animation)
        copy.animation = nil
        #expect(container.animation === animation)
    }
}
