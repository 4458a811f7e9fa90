public import NukeCore

/// Frames of an animation that are there already.
public final class AnimationFrames: ImageFrameDecoding {
    private let frames: [Bitmap]

    /// Creates frames.
    public init(_ frames: [Bitmap]) { self.frames = frames }

    /// The frame.
    public func frame(at index: Int) throws -> Bitmap { frames[index] }

    /// A container with an animation of frames, the first of which is its image; each is shown for 100 ms by default.
    public static func container(
        _ frames: [Bitmap], durations: [Double]? = nil, playCount: Int? = nil
    ) -> ImageContainer {
        var container = ImageContainer(image: frames[0])
        container.animation = ImageAnimation(
            storedDurations: durations ?? frames.map { _ in 0.1 }, playCount: playCount, frames: AnimationFrames(frames)
        )
        return container
    }

    /// Two to nine frames that change in places, or not at all, the same for equal seeds.
    ///
    /// - Parameter alphas: Those of the pixels, one of which is taken for each.
    public static func random(
        seed: UInt64, width: Int = 9, height: Int = 7, alphas: [UInt32]
    ) throws -> [Bitmap] {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
        func number(below limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        func pixel() -> UInt32 {
            let alpha = alphas[number(below: alphas.count)]
            // Colours are at most the alpha: premultiplied.
            return (0..<3).reduce(alpha << 24) { $0 | UInt32(number(below: Int(alpha) + 1)) << UInt32(8 * $1) }
        }
        var pixels = (0..<width * height).map { _ in pixel() }
        return try (0..<2 + number(below: 8)).map { _ in
            let frame = try Bitmap.picture(width, height, isOpaque: alphas == [255]) { x, y in pixels[y * width + x] }
            for _ in 0..<number(below: 3) {
                let (left, top) = (number(below: width), number(below: height))
                let isDense = number(below: 2) == 0
                for y in top..<top + 1 + number(below: height - top) {
                    for x in left..<left + 1 + number(below: width - left) where isDense || number(below: 4) == 0 {
                        pixels[y * width + x] = pixel()
                    }
                }
            }
            return frame
        }
    }
}

extension Bitmap {
    /// A picture of RGBA8, premultiplied: red in the lowest 8 bits.
    public static func picture(
        _ width: Int, _ height: Int, isOpaque: Bool = false, colorSpace: ColorSpace = .sRGB,
        _ pixel: (Int, Int) -> UInt32
    ) throws -> Bitmap {
        guard var buffer = PixelBuffer(width: width, height: height) else { throw ImageProcessingError.outOfMemory }
        buffer.withBytes { bytes in
            for index in 0..<width * height {
                let value = pixel(index % width, index / width).littleEndian
                bytes.storeBytes(of: value, toByteOffset: index * 4, as: UInt32.self)
            }
        }
        return buffer.freeze(isOpaque: isOpaque, colorSpace: colorSpace)
    }
}
