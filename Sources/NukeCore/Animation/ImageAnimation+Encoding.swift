extension ImageAnimation {
    /// A frame as encoders of animations take it: RGBA8, of the size that they give.
    ///
    /// Blocks while another thread decodes a frame of the same animation.
    ///
    /// Throws `failed` for a frame of another size or without memory, and what the frames' decoder or processors throw.
    ///
    /// - Parameters:
    ///   - index: Below `frameCount`.
    ///   - size: The width and height of the first frame; nil if this is it.
    ///   - codec: The name of the format that is written.
    public func frameToEncode(
        at index: Int, size: (width: Int, height: Int)?, codec: String
    ) throws(ImageEncodingError) -> Bitmap {
        let frame: Bitmap
        do { frame = try decodeFrame(at: index) } catch {
            throw error as? ImageEncodingError ?? .failed("frame \(index): \(error)", codec: codec)
        }
        if let size, size != (frame.width, frame.height) {
            throw .failed(
                "frame \(index) has \(frame.width)x\(frame.height) pixels, the first \(size.width)x\(size.height)",
                codec: codec)
        }
        guard let converted = frame.convertedToRGBA8() else {
            throw .failed("no memory for \(frame.width)x\(frame.height) pixels", codec: codec)
        }
        return converted
    }
}
