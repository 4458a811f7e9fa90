import FoundationEssentials
import NukeCore
import NukeTestSupport

/// An animation put together of pictures, and what each frame of it has to look like.
struct AnimationFile {
    struct Frame {
        var x = 0
        var y = 0
        var image: Bitmap
        var duration = 100
        var isBlended = true
        var isDisposed = false
    }

    var width: Int
    var height: Int
    var frames: [Frame]
    var loopCount = 0
    var flags: UInt8 = WebPFile.Flag.animation | WebPFile.Flag.alpha

    /// The file, of frames without loss.
    func file() throws -> WebPFile {
        let animation = WebPFile.Chunk(
            type: "ANIM", contents: [255, 0, 0, 255] + WebPFile.littleEndian(loopCount, 2))
        let frames = try frames.map { frame in
            let sizes = [frame.x / 2, frame.y / 2, frame.image.width - 1, frame.image.height - 1, frame.duration]
            let flags: UInt8 = (frame.isBlended ? 0 : 2) | (frame.isDisposed ? 1 : 0)
            let picture = WebPFile(try Picture.encode(frame.image)).picture.flatMap(\.bytes)
            return WebPFile.Chunk(
                type: "ANMF", contents: sizes.flatMap { WebPFile.littleEndian($0, 3) } + [flags] + picture)
        }
        return WebPFile([WebPFile.extended(width: width, height: height, flags: flags), animation] + frames)
    }

    func data() throws -> Data { try file().data }

    /// The canvas at each frame, composed sample by sample as RFC 9649 (2.7.1.1 and 2.7.1.2) has it.
    func expected() -> [[UInt8]] {
        var canvas = [UInt8](repeating: 0, count: width * height * 4)
        return frames.map { frame in
            let before = canvas
            for y in 0..<frame.image.height {
                for x in 0..<frame.image.width {
                    let place = ((frame.y + y) * width + frame.x + x) * 4
                    let pixel = frame.image.pixel(x, y)
                    for channel in 0..<4 {
                        let under = frame.isBlended ? Int(before[place + channel]) * (255 - Int(pixel[3])) : 0
                        canvas[place + channel] = pixel[channel] + UInt8((under + 127) / 255)
                    }
                }
            }
            let shown = canvas
            if frame.isDisposed {
                for y in frame.y..<frame.y + frame.image.height {
                    for index in (y * width + frame.x) * 4..<(y * width + frame.x + frame.image.width) * 4 {
                        canvas[index] = 0
                    }
                }
            }
            return shown
        }
    }
}
