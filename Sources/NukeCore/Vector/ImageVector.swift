#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A picture made of shapes, which can be drawn at any size.
///
/// `ImageContainer.vector` of an image whose decoder reads such files; the image is how it is drawn at the size that was asked
/// for. Drawn larger it is as sharp as it is at that size, where resizing the image would blur it.
public final class ImageVector: Sendable {
    /// The size that the file gives it, in pixels at a scale of 1; need not be whole.
    public let size: ImageSize

    private let drawing: any ImageVectorDrawing

    /// Creates a picture; what decoders do.
    ///
    /// - Parameters:
    ///   - size: The size that the file gives it, in pixels at a scale of 1.
    ///   - drawing: Draws it.
    public init(size: ImageSize, drawing: any ImageVectorDrawing) {
        self.size = size
        self.drawing = drawing
    }

    /// The data that is held for drawing.
    var compressedData: Data? { drawing.compressedData }

    /// The picture at a size in pixels, which are rounded to whole ones; stretched where the shape differs.
    ///
    /// The request's processors are not applied. Throws what the decoder throws, mostly an `ImageDecodingError`:
    /// `limitExceeded` if the size is not a positive number, or too large. Once the calling task is cancelled, `cancelled` at once.
    public func image(size: ImageSize) async throws -> Bitmap {
        guard size.width > 0, size.height > 0, let width = Int(exactly: max(1, size.width.rounded())),
            let height = Int(exactly: max(1, size.height.rounded()))
        else { throw ImageDecodingError.limitExceeded("a picture can't be drawn at \(size)", codec: "") }
        return try await drawing.image(width: width, height: height)
    }
}
