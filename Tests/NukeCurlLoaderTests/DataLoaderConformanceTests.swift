import FoundationEssentials
import NukeCore
import NukeCurlLoader
import NukeTestKit
import NukeTestSupport
import Testing

@Suite("Loader conformance suite", .timeLimit(.minutes(5)))
struct DataLoaderConformanceTests {
    @Test(
        "finds what is wrong with a faulty loader",
        arguments: [
            (Fault.completesTwice, "response comes first", "completion was called 2 times"),
            (.completesTwice, "an error within the body", "completion was called 2 times"),
            (.repeatsChunks, "a body keeps its order", "2097152 bytes came instead of 1048576"),
            (.losesTheLastChunk, "a body keeps its order", "bytes came instead of 1048576"),
            (.callsAfterCancel, "cancel within the body", "callbacks after cancel"),
            (.callsAfterCancel, "cancel from a callback", "completion was called though the load was cancelled"),
            (.hidesErrors, "a short body is an error", "4000 of 10000 bytes are missing"),
            (.hidesErrors, "an error before the response", "completion brought no error"),
            (.refusesStatuses, "every status is delivered", "404: the response has status nil"),
            (.keepsTheHead, "the head does not wait for the body", "was not delivered before the body"),
            (.mixesBodies, "bodies never mix", "instead of 20"),
            (.forgetsPause, "pause and resume", "bytes came after pause"),
        ])
    func finds(_ fault: Fault, check: String, message: String) async throws {
        let suite = DataLoaderConformance(loader: FaultyLoader(fault), origin: try ScriptedOrigin(), patience: 2)
        let violations = try await suite.check { $0 == check }
        #expect(violations.contains { $0.message.contains(message) }, "\(violations)")
    }

    @Test("finds a loader that never completes")
    func silentLoader() async throws {
        let suite = DataLoaderConformance(loader: SilentLoader(), origin: try ScriptedOrigin(), patience: 0.01)
        let violations = try await suite.check { $0 == "response comes first" }
        #expect(violations.contains { $0.message.contains("no completion") })
    }
}

/// Never says anything.
private final class SilentLoader: DataLoading, Cancellable {
    func loadData(
        with request: DataRequest, didReceiveData: @escaping @Sendable (Data, DataResponse) -> Void,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) -> any Cancellable {
        self
    }

    func cancel() {}
}

/// What a faulty loader does wrong.
enum Fault: String, Sendable, CustomTestStringConvertible {
    case completesTwice, repeatsChunks, losesTheLastChunk, callsAfterCancel, hidesErrors, refusesStatuses
    case keepsTheHead, mixesBodies, forgetsPause

    var testDescription: String { rawValue }
}

/// A good loader, made wrong in one way.
private final class FaultyLoader: DataLoading {
    private let fault: Fault
    private let loader = CurlLoader.direct()
    private let common = Lock(Data())

    init(_ fault: Fault) { self.fault = fault }

    func loadData(
        with request: DataRequest, didReceiveData: @escaping @Sendable (Data, DataResponse) -> Void,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) -> any Cancellable {
        let held = Lock<(data: Data, response: DataResponse)?>(nil)
        let transfer = loader.loadData(
            with: request,
            didReceiveData: { data, response in
                switch self.fault {
                case .repeatsChunks:
                    didReceiveData(data, response)
                    didReceiveData(data, response)
                case .losesTheLastChunk:
                    let last = held.withLock { held in
                        defer { held = (data, response) }
                        return held
                    }
                    if let last { didReceiveData(last.data, last.response) }
                case .keepsTheHead:
                    if !data.isEmpty || response.expectedContentLength <= 0 { didReceiveData(data, response) }
                case .mixesBodies:
                    let other = self.common.withLock { common in
                        defer { common = data }
                        return common
                    }
                    didReceiveData(other, response)
                case .refusesStatuses where response.statusCode != 200: break
                default: didReceiveData(data, response)
                }
            },
            completion: { error in
                completion(self.fault == .hidesErrors ? nil : error)
                if self.fault == .completesTwice { completion(error) }
            })
        if fault == .callsAfterCancel { return DeafHandle() }
        if fault == .forgetsPause { return DeafTransfer(transfer) }
        return transfer
    }
}

/// Does nothing when it is told to stop.
private final class DeafHandle: Cancellable {
    func cancel() {}
}

/// Does nothing when it is told to wait.
private final class DeafTransfer: DataTransfer {
    private let transfer: any Cancellable
    private let level = Lock(ImageRequest.Priority.normal)

    init(_ transfer: any Cancellable) { self.transfer = transfer }

    var priority: ImageRequest.Priority {
        get { level.withLock { $0 } }
        set { level.withLock { $0 = newValue } }
    }

    func cancel() { transfer.cancel() }
    func pause() {}
    func resume() {}
}
