/// A decoder's frames of one animated picture.
///
/// What a plugin hands to `ImageAnimation`. Its calls never overlap, and come on codec threads.
public protocol ImageFrameDecoding: AnyObject, Sendable {
    /// The whole picture as it is shown at a frame: composed with the frames before it, upright, of the size of the first.
    ///
    /// Mostly called for the frame after the last one. Any other index gives the same pixels as coming to it in order would.
    ///
    /// - Parameter index: Below the number of frames.
    func frame(at index: Int) throws -> Bitmap
}
