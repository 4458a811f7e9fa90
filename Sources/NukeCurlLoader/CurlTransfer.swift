internal import NukeCore
internal import Synchronization

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What a caller holds of a load: says from any thread that it is to stop, to wait or to hurry.
///
/// Holds neither the callbacks nor anything of libcurl's, so it keeps nothing alive.
final class CurlTransfer: DataTransfer {
    private struct Flags: OptionSet {
        let rawValue: UInt8

        static let cancelled = Flags(rawValue: 1)
        static let paused = Flags(rawValue: 2)
        /// libcurl was told to keep bytes back, and has to be told to go on.
        static let held = Flags(rawValue: 4)
        static let ended = Flags(rawValue: 8)
    }

    private let engine: CurlEngine
    private let flags = Atomic<UInt8>(0)
    private let level = Atomic<Int>(ImageRequest.Priority.normal.rawValue)

    init(_ engine: CurlEngine) { self.engine = engine }

    func cancel() {
        let old = add(.cancelled)
        if old.isDisjoint(with: [.cancelled, .ended]) { engine.post(.cancel(self)) }
    }

    func pause() { _ = add(.paused) }

    func resume() {
        let old = remove([.paused, .held])
        if old.contains(.held), old.isDisjoint(with: [.cancelled, .ended]) { engine.post(.resume(self)) }
    }

    var priority: ImageRequest.Priority {
        get { ImageRequest.Priority(rawValue: level.load(ordering: .relaxed)) ?? .normal }
        set {
            let old = level.exchange(newValue.rawValue, ordering: .relaxed)
            if old != newValue.rawValue, load().isDisjoint(with: [.cancelled, .ended]) {
                engine.post(.reprioritize(self))
            }
        }
    }

    // MARK: For the engine's thread

    var isCancelled: Bool { load().contains(.cancelled) }

    var isPaused: Bool { load().contains(.paused) }

    /// Whether bytes may be handed on now; if not, `resume` will tell the engine.
    func mayDeliver() -> Bool {
        var old = load()
        while old.contains(.paused) {
            let (exchanged, current) = flags.compareExchange(
                expected: old.rawValue, desired: old.union(.held).rawValue, ordering: .acquiringAndReleasing)
            if exchanged { return false }
            old = Flags(rawValue: current)
        }
        return true
    }

    /// Nothing more is to come; returns whether that is to be said, which it is not after `cancel`.
    func end() -> Bool { add(.ended).isDisjoint(with: [.cancelled, .ended]) }

    // MARK: Flags

    private func load() -> Flags { Flags(rawValue: flags.load(ordering: .acquiring)) }

    private func add(_ new: Flags) -> Flags {
        Flags(rawValue: flags.bitwiseOr(new.rawValue, ordering: .acquiringAndReleasing).oldValue)
    }

    private func remove(_ gone: Flags) -> Flags {
        Flags(rawValue: flags.bitwiseAnd(~gone.rawValue, ordering: .acquiringAndReleasing).oldValue)
    }
}

/// A load that was asked for: the request and whom to tell.
final class CurlOrder: Sendable {
    let request: DataRequest
    let transfer: CurlTransfer
    let didReceiveData: @Sendable (Data, DataResponse) -> Void
    let completion: @Sendable ((any Error)?) -> Void

    init(
        _ request: DataRequest, transfer: CurlTransfer,
        didReceiveData: @escaping @Sendable (Data, DataResponse) -> Void,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        self.request = request
        self.transfer = transfer
        self.didReceiveData = didReceiveData
        self.completion = completion
    }

    /// Says that the load is over, unless it was cancelled.
    func end(_ error: DataLoadingError?) {
        if transfer.end() { completion(error) }
    }
}
