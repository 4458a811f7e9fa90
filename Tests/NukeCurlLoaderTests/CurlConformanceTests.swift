import NukeCore
import NukeCurlLoader
import NukeTestKit
import NukeTestSupport
import Testing

@Suite("CurlLoader: conformance", .timeLimit(.minutes(5)))
struct CurlConformanceTests {
    @Test(
        """
        keeps what DataLoading promises [DAT-01] [DAT-11] [DAT-12] [DAT-13] [DAT-14] [DAT-15] [DAT-16] [DAT-41] \
        (pitfalls 11, 16, 31, 62, 64)
        """)
    func keepsThePromises() async throws {
        let suite = DataLoaderConformance(loader: CurlLoader.direct(), origin: try ScriptedOrigin())
        #expect(try await suite.check().isEmpty)
    }

    @Test("keeps them with two connections a host")
    func twoConnections() async throws {
        // With one, a paused load would hold back the others that its check makes.
        let loader = CurlLoader.direct { $0.maximumConnectionsPerHost = 2 }
        let suite = DataLoaderConformance(loader: loader, origin: try ScriptedOrigin())
        #expect(try await suite.check().isEmpty)
    }
}
