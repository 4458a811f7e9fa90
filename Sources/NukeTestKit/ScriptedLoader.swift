internal import Dispatch
public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A loader whose answers tests set, or send piece by piece.
///
/// Calls of all its loads come on one queue, in order. Everything it was asked for is kept, for the test to look at.
public final class ScriptedLoader: DataLoading {
    /// What a URL answers with.
    public struct Answer: Sendable {
        /// The chunks of the body.
        public var chunks: [Data]
        /// The response; by default status 200 with the length of the chunks.
        public var response: DataResponse?
        /// The error at the end.
        public var error: (any Error)?

        /// An answer of these chunks.
        public init(chunks: [Data], response: DataResponse? = nil, error: (any Error)? = nil) {
            self.chunks = chunks
            self.response = response
            self.error = error
        }
    }

    private struct State {
        var answers: [String: Answer] = [:]
        var fallback: Answer? = Answer(chunks: [Data(repeating: 1, count: 22789)])
        var isSuspended = false
        var transfers: [ScriptedTransfer] = []
        var removedURLs: [String] = []
        var removeAllCount = 0
    }

    private let state = Lock(State())
    private let queue = DispatchQueue(label: "ScriptedLoader")

    /// Creates a loader that answers every URL with 22,789 bytes at once.
    public init() {}

    /// Makes one URL answer with this.
    public func answer(_ url: String, with answer: Answer) { state.withLock { $0.answers[url] = answer } }

    /// Makes every other URL answer with this; nil: wait for the test to send.
    public func answerEverything(with answer: Answer?) { state.withLock { $0.fallback = answer } }

    /// While true, transfers are made and nothing is sent; setting false sends what waits.
    public var isSuspended: Bool {
        get { state.withLock { $0.isSuspended } }
        set {
            let waiting = state.withLock { state in
                state.isSuspended = newValue
                return newValue ? [] : state.transfers
            }
            for transfer in waiting { start(transfer) }
        }
    }

    /// Every transfer so far, in the order of the calls.
    public var transfers: [ScriptedTransfer] { state.withLock { $0.transfers } }

    /// How many loads were asked for.
    public var loadCount: Int { transfers.count }

    /// How many loads were cancelled.
    public var cancelCount: Int { transfers.filter(\.isCancelled).count }

    /// The URLs of which the loader was told to forget what it keeps.
    public var removedURLs: [String] { state.withLock { $0.removedURLs } }

    /// How often the loader was told to forget all it keeps.
    public var removeAllCount: Int { state.withLock { $0.removeAllCount } }

    /// Takes note.
    public func removeData(for request: DataRequest) {
        state.withLock { $0.removedURLs.append(request.url?.absoluteString ?? "") }
    }

    /// Takes note.
    public func removeAllData() { state.withLock { $0.removeAllCount += 1 } }

    /// Makes a transfer, and answers it as scripted unless loads are suspended.
    public func loadData(
        with request: DataRequest, didReceiveData: @escaping @Sendable (Data, DataResponse) -> Void,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) -> any Cancellable {
        let transfer = ScriptedTransfer(request: request, didReceiveData: didReceiveData, completion: completion)
        let isStarting = state.withLock { state in
            state.transfers.append(transfer)
            return !state.isSuspended
        }
        if isStarting { start(transfer) }
        return transfer
    }

    private func start(_ transfer: ScriptedTransfer) {
        let text = transfer.request.url?.absoluteString ?? ""
        guard let answer = state.withLock({ $0.answers[text] ?? $0.fallback }), transfer.markStarted() else { return }
        queue.async {
            let length = answer.chunks.reduce(0) { $0 + $1.count }
            let response =
                answer.response
                ?? DataResponse(
                    url: transfer.request.url, statusCode: 200, expectedContentLength: Int64(length))
            for chunk in answer.chunks where !transfer.isCancelled { transfer.send(chunk, response) }
            if !transfer.isCancelled { transfer.finish(answer.error) }
        }
    }
}
