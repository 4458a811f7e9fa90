internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Starts a load and writes down everything that its callbacks do.
final class LoadRecorder: Sendable {
    struct Record: Sendable {
        var body = Data()
        var responses: [DataResponse] = []
        var callCount = 0
        var completions: [(any Error)?] = []
        var callsAfterCompletion = 0
        var callsAfterCancel = 0
        var overlaps = 0

        var error: (any Error)? { completions.first ?? nil }
    }

    private struct State {
        var record = Record()
        var isInside = false
        var isCancelled = false
        var transfer: (any Cancellable)?
        var onFirstBytes: (@Sendable (any Cancellable) -> Void)?
        var waiters: [(isMet: @Sendable (Record) -> Bool, continuation: CheckedContinuation<Bool, Never>)] = []

        /// A callback begins.
        mutating func enter() {
            if isInside { record.overlaps += 1 }
            if isCancelled { record.callsAfterCancel += 1 }
            if !record.completions.isEmpty { record.callsAfterCompletion += 1 }
            isInside = true
        }
    }

    private let state = Lock(State())

    /// What has happened so far.
    var record: Record { state.withLock { $0.record } }

    /// The handle that `loadData` returned.
    var transfer: (any Cancellable)? { state.withLock { $0.transfer } }

    /// Starts the load; `onFirstBytes` is called in the first callback with bytes, if the handle is known by then.
    func start(
        _ loader: any DataLoading, _ request: DataRequest,
        onFirstBytes: (@Sendable (any Cancellable) -> Void)? = nil
    ) {
        state.withLock { $0.onFirstBytes = onFirstBytes }
        let transfer = loader.loadData(
            with: request, didReceiveData: { self.receive($0, $1) }, completion: { self.complete($0) })
        state.withLock { $0.transfer = transfer }
    }

    /// Cancels, and takes note of what comes afterwards.
    func cancel() {
        transfer?.cancel()
        state.withLock { $0.isCancelled = true }
    }

    /// Waits until the condition holds; false if it does not within the seconds.
    func wait(atMost seconds: Double, until isMet: @escaping @Sendable (Record) -> Bool) async -> Bool {
        let alarm = Task {
            try? await Task.sleep(nanoseconds: UInt64(seconds * 1e9))
            if !Task.isCancelled { resumeWaiters(unconditionally: true) }
        }
        defer { alarm.cancel() }
        return await withCheckedContinuation { continuation in
            state.withLock { $0.waiters.append((isMet, continuation)) }
            resumeWaiters()
        }
    }

    private func resumeWaiters(unconditionally: Bool = false) {
        let ready = state.withLock { state in
            let record = state.record
            let ready = state.waiters.filter { unconditionally || $0.isMet(record) }
            state.waiters.removeAll { unconditionally || $0.isMet(record) }
            return ready.map { ($0.continuation, $0.isMet(record)) }
        }
        for (continuation, isMet) in ready { continuation.resume(returning: isMet) }
    }

    // MARK: Callbacks

    private func receive(_ data: Data, _ response: DataResponse) {
        let action = state.withLock { state -> (@Sendable (any Cancellable) -> Void)? in
            state.enter()
            state.record.callCount += 1
            state.record.body.append(data)
            state.record.responses.append(response)
            guard !data.isEmpty else { return nil }
            defer { state.onFirstBytes = nil }
            return state.onFirstBytes
        }
        if let action, let transfer { action(transfer) }
        state.withLock { $0.isInside = false }
        resumeWaiters()
    }

    private func complete(_ error: (any Error)?) {
        state.withLock { state in
            state.enter()
            state.record.completions.append(error)
            state.isInside = false
        }
        resumeWaiters()
    }
}
