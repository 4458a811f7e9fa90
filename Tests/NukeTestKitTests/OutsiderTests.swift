import FoundationEssentials
import NukeCore
import NukeTestKit
import NukeTestSupport
import Testing

@Suite("What others write", .serialized, .timeLimit(.minutes(5)))
struct OutsiderTests {
    @Test("A loader over URLSession keeps the promises of DataLoading")
    func urlSession() async throws {
        let suite = DataLoaderConformance(loader: URLSessionLoader(), origin: try ScriptedOrigin())
        let violations = try await suite.check().map(\.description)
        #expect(violations == [])
    }

    @Test("A loader made slow keeps them too")
    func throttled() async throws {
        let loader = ThrottledLoader(URLSessionLoader(), bytesPerSecond: 1 << 30, chunkSize: 32 << 10)
        let suite = DataLoaderConformance(loader: loader, origin: try ScriptedOrigin())
        let violations = try await suite.check().map(\.description)
        #expect(violations == [])
    }

    @Test(
        "Faults in such a loader are found",
        arguments: [
            (RudeLoader.Fault.hidesErrors, "a short body is an error"), (.hidesErrors, "an error within the body"),
            (.completesTwice, "response comes first"), (.callsAfterCancel, "cancel within the body"),
            (.repeatsBytes, "a body keeps its order"),
        ])
    func rudeLoaders(_ fault: RudeLoader.Fault, check: String) async throws {
        let suite = DataLoaderConformance(
            loader: RudeLoader(URLSessionLoader(), fault), origin: try ScriptedOrigin(), patience: 5)
        let violations = try await suite.check { $0 == check }
        #expect(violations.contains { $0.check == check }, "\(violations)")
    }

    @Test("A cache in a table of SQLite keeps the promises of DataCaching")
    func sqlite() throws {
        let folder = try TemporaryFolder()
        let suite = DataCacheConformance {
            try SQLiteCache(path: folder.file("\(UUID().uuidString).sqlite"))
        } reopen: { cache in
            try SQLiteCache(path: try #require(cache as? SQLiteCache).path)
        }
        #expect(suite.violations().map(\.description) == [])
    }
}

/// Hands on what another loader does, made wrong in one way.
final class RudeLoader: DataLoading {
    enum Fault: String, Sendable, CustomTestStringConvertible {
        case hidesErrors, completesTwice, callsAfterCancel, repeatsBytes

        var testDescription: String { rawValue }
    }

    private final class DeafHandle: Cancellable {
        func cancel() {}
    }

    private let loader: any DataLoading
    private let fault: Fault

    init(_ loader: any DataLoading, _ fault: Fault) {
        self.loader = loader
        self.fault = fault
    }

    func loadData(
        with request: DataRequest, didReceiveData: @escaping @Sendable (Data, DataResponse) -> Void,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) -> any Cancellable {
        let (fault, times) = (fault, fault == .repeatsBytes ? 2 : 1)
        let transfer = loader.loadData(
            with: request,
            didReceiveData: { data, response in
                for _ in 0..<times { didReceiveData(data, response) }
            },
            completion: { error in
                completion(fault == .hidesErrors ? nil : error)
                if fault == .completesTwice { completion(error) }
            })
        return fault == .callsAfterCancel ? DeafHandle() : transfer
    }
}
