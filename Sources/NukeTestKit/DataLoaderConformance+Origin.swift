internal import Dispatch
public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The server that a test puts at the disposal of `DataLoaderConformance`.
///
/// It runs beside the loader, which has to hear of everything as it happens: bytes are sent when their step comes, not
/// when the answer is complete. Steps may block, so each answer needs a thread, or a task, of its own.
public protocol DataLoaderOrigin: Sendable {
    /// Answers every request for a new URL so, and returns that URL.
    func serve(_ answer: OriginAnswer) throws -> URL

    /// How many requests for a URL have arrived.
    func requestCount(for url: URL) -> Int
}

/// What an origin sends, step by step.
///
/// After the last step the body ends as it should. If fewer bytes than declared were sent, the connection is closed.
public struct OriginAnswer: Sendable {
    /// One thing to do.
    public enum Step: Sendable {
        /// Sends status and header fields.
        case head
        /// Sends bytes of the body, at once.
        case send(Data)
        /// Waits until the gate is open.
        case wait(OriginGate)
        /// Breaks the connection off; nothing follows.
        case drop
    }

    /// The HTTP status.
    public var status: Int
    /// Header fields besides those that say how long the body is.
    public var headers: HTTPHeaders
    /// What `Content-Length` says; nil for a body whose length is not told beforehand, such as a chunked one.
    public var declaredLength: Int?
    /// What to do, in order.
    public var steps: [Step]

    /// Creates an answer.
    public init(status: Int = 200, headers: HTTPHeaders = [:], declaredLength: Int?, steps: [Step]) {
        self.status = status
        self.headers = headers
        self.declaredLength = declaredLength
        self.steps = steps
    }

    /// Creates an answer that is sent at once, with its length.
    public init(status: Int = 200, body: Data) {
        self.init(status: status, declaredLength: body.count, steps: [.head, .send(body)])
    }
}

/// Holds back an origin until it is opened.
public final class OriginGate: Sendable {
    private let group = DispatchGroup()

    /// Creates a closed gate.
    public init() { group.enter() }

    /// Blocks the calling thread until the gate is open.
    public func wait() { group.wait() }

    /// Returns when the gate is open.
    public func opened() async {
        await withCheckedContinuation { continuation in
            group.notify(queue: .global()) { continuation.resume() }
        }
    }

    /// Lets everybody through, now and later; to be called once.
    public func open() { group.leave() }
}
