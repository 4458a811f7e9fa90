#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A decoder that waits, for another process or a service, and blocks no thread meanwhile.
///
/// The pipeline calls the asynchronous `decode` and holds a place in the queue until it returns. Cancelling the
/// load cancels the Swift task that it runs in.
public protocol AsyncImageDecoding: ImageDecoding {
    /// The final image of all the data.
    @concurrent
    func decode(_ data: Data) async throws -> ImageContainer

    /// The queue in which decodes wait for their turn; nil, the default: the pipeline's, which all other formats share.
    ///
    /// A queue of its own is for a decoder that has threads of its own, or leaves the work to others: as long as it takes, other
    /// formats go on.
    var decodingQueue: TaskQueue? { get }
}

extension AsyncImageDecoding {
    /// Nil: the pipeline's.
    public var decodingQueue: TaskQueue? { nil }

    /// Throws `ImageDecodingError.synchronousDecodingUnsupported`.
    public func decode(_ data: Data) throws -> ImageContainer {
        throw ImageDecodingError.synchronousDecodingUnsupported
    }
}
