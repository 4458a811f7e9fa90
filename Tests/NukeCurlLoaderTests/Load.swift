import FoundationEssentials
import NukeCore
import NukeCurlLoader

/// What a load came to.
struct Load: Sendable {
    var response: DataResponse?
    var body = Data()
    var error: DataLoadingError?
    var callCount = 0

    /// The body as text.
    var text: String { String(decoding: body, as: UTF8.self) }

    /// Loads to the end.
    static func run(_ loader: CurlLoader, _ url: String) async -> Load {
        await run(loader, DataRequest(url: URL(string: url)))
    }

    /// Loads to the end.
    static func run(_ loader: CurlLoader, _ request: DataRequest) async -> Load {
        let load = PendingLoad()
        load.start(loader, request)
        return await load.end()
    }
}

/// A load under way.
final class PendingLoad: Sendable {
    private struct State {
        var load = Load()
        var isOver = false
        var waiters: [(Int, CheckedContinuation<Void, Never>)] = []
        var end: [CheckedContinuation<Load, Never>] = []
        var transfer: (any Cancellable)?
    }

    private let state = Lock(State())

    /// Starts a load; `onCall` is called for every delivery, on the loader's thread.
    @discardableResult
    func start(
        _ loader: any DataLoading, _ request: DataRequest, onCall: @escaping @Sendable (Int) -> Void = { _ in },
        onEnd: @escaping @Sendable () -> Void = {}
    ) -> any Cancellable {
        let transfer = loader.loadData(
            with: request,
            didReceiveData: { data, response in
                let (count, waiters) = self.state.withLock { state in
                    state.load.callCount += 1
                    state.load.response = response
                    state.load.body.append(data)
                    let count = state.load.body.count
                    let waiters = state.waiters.filter { $0.0 <= count }
                    state.waiters.removeAll { $0.0 <= count }
                    return (count, waiters.map(\.1))
                }
                for waiter in waiters { waiter.resume() }
                onCall(count)
            },
            completion: { error in
                let (load, waiters) = self.state.withLock { state in
                    state.load.error = error as? DataLoadingError
                    state.isOver = true
                    defer { state.end = [] }
                    return (state.load, state.end)
                }
                for waiter in waiters { waiter.resume(returning: load) }
                onEnd()
            })
        state.withLock { $0.transfer = transfer }
        return transfer
    }

    /// Starts a load.
    @discardableResult
    func start(_ loader: any DataLoading, _ url: String) -> any Cancellable {
        start(loader, DataRequest(url: URL(string: url)))
    }

    /// What there is so far.
    var load: Load { state.withLock { $0.load } }

    /// Whether the completion was called.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Waits for the completion.
    func end() async -> Load {
        await withCheckedContinuation { continuation in
            let load = state.withLock { state -> Load? in
                if !state.isOver { state.end.append(continuation) }
                return state.isOver ? state.load : nil
            }
            if let load { continuation.resume(returning: load) }
        }
    }

    /// Waits until a response, and so many bytes of the body, are there.
    func received(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                let isThere = state.load.response != nil && state.load.body.count >= count
                if !isThere { state.waiters.append((count, continuation)) }
                return isThere
            }
            if isThere { continuation.resume() }
        }
    }
}

extension CurlLoader {
    /// A loader that uses no proxy, whatever the environment says.
    static func direct(_ configure: (inout Configuration) -> Void = { _ in }) -> CurlLoader {
        var configuration = Configuration()
        configuration.proxy = ""
        configure(&configuration)
        return CurlLoader(configuration: configuration)
    }
}
