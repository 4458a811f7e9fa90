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
        await run(loader, .patient(url))
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
        typealias Waiter = (isMet: @Sendable (State) -> Bool, continuation: CheckedContinuation<Void, Never>)

        var load = Load()
        var isOver = false
        var isAbandoned = false
        var waiters: [Waiter] = []
    }

    private let state = Lock(State())

    /// Starts a load; `onCall` is called for every delivery, on the loader's thread.
    @discardableResult
    func start(
        _ loader: any DataLoading, _ request: DataRequest, onCall: @escaping @Sendable (Int) -> Void = { _ in },
        onEnd: @escaping @Sendable () -> Void = {}
    ) -> any Cancellable {
        loader.loadData(
            with: request,
            didReceiveData: { data, response in
                let count = self.change { state in
                    state.load.callCount += 1
                    state.load.response = response
                    state.load.body.append(data)
                    return state.load.body.count
                }
                onCall(count)
            },
            completion: { error in
                self.change { state in
                    state.load.error = error as? DataLoadingError
                    state.isOver = true
                }
                onEnd()
            })
    }

    /// Starts a load.
    @discardableResult
    func start(_ loader: any DataLoading, _ url: String) -> any Cancellable {
        start(loader, .patient(url))
    }

    /// What there is so far.
    var load: Load { state.withLock { $0.load } }

    /// Whether the completion was called.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Waits for the completion.
    func end() async -> Load {
        await wait { state in state.isOver }
        return load
    }

    /// Waits until a response, and so many bytes of the body, are there.
    func received(_ count: Int) async {
        await wait { state in state.load.response != nil && state.load.body.count >= count }
    }

    /// Returns at once if the test has run out of time.
    private func wait(until isMet: @escaping @Sendable (State) -> Bool) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                change { $0.waiters.append((isMet, continuation)) }
            }
        } onCancel: {
            change { $0.isAbandoned = true }
        }
    }

    private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, ready) = state.withLock { state in
            let result = body(&state)
            let now = state
            let isReady = { (waiter: State.Waiter) in now.isAbandoned || waiter.isMet(now) }
            let ready = state.waiters.filter(isReady)
            state.waiters.removeAll(where: isReady)
            return (result, ready.map(\.continuation))
        }
        for continuation in ready { continuation.resume() }
        return result
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

extension DataRequest {
    /// A request that waits as long as its test does: other tests may hold all threads for longer than a server may be silent.
    static func patient(_ url: String) -> DataRequest {
        var request = DataRequest(url: URL(string: url))
        request.timeout = .infinity
        return request
    }
}
