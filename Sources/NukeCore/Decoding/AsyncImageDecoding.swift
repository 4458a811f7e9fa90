#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A decoder that waits, for another process or a service, and blocks no thread meanwhile.
///
/// The pipeline calls the asynchronous `decode` and holds a place in the decoding queue until it returns. Cancelling the
/// load cancels the Swift task that it runs in.
public protocol AsyncImageDecoding: ImageDecoding {
    /// The final image of all the data.
    @concurrent
    func decode(_ data: Data) async throws -> ImageContainer
}

extension AsyncImageDecoding {
    /// Throws `ImageDecodingError.synchronousDecodingUnsupported`.
    public func decode(_ data: Data) throws -> ImageContainer {
        throw ImageDecodingError.synchronousDecodingUnsupported
    }
}
