import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)))
struct RetryTests {
    let request = ImageRequest(url: URL(string: "http://test.com/a"))
    let clock = TestClock()
    let lost = DataLoadingError(.connectionLost, reason: "lost")

    private func policy(_ attempts: Int) -> RetryPolicy {
        var policy = RetryPolicy(maximumAttemptCount: attempts)
        policy.jitter = 0
        return policy
    }

    private func failing(_ error: any Error) -> TestPipeline {
        let test = TestPipeline()
        test.loader.answerEverything(with: .init(chunks: [], error: error))
        return test
    }

    @Test("a load that fails is tried again after growing times")
    func growingTimes() async throws {
        let test = failing(lost)
        let sequence = test.pipeline.images(with: request).retrying(policy(4), clock: clock)
        let task = Task { try await sequence.response() }
        for (attempt, delay) in [500, 1000, 2000].enumerated() {
            await waitUntil { clock.sleeperCount == 1 }
            #expect(test.loader.loadCount == attempt + 1)
            if attempt == 2 { test.loader.answerEverything(with: .init(chunks: [Data([1])])) }
            clock.advance(by: .milliseconds(delay - 1))
            #expect(clock.sleeperCount == 1)
            clock.advance(by: .milliseconds(1))
        }
        #expect(try await task.value.request.url == request.url)
        #expect(test.loader.loadCount == 4)
        #expect(clock.sleeps == [.milliseconds(500), .seconds(1), .seconds(2)])
    }

    @Test("after the last attempt its error is thrown")
    func attempts() async {
        let test = failing(lost)
        let sequence = test.pipeline.images(with: request).retrying(policy(2), clock: clock)
        let task = Task { try await sequence.response() }
        await waitUntil { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        guard case .failure(let error) = await task.result else {
            Issue.record("no failure")
            return
        }
        #expect((error as? ImagePipeline.Error)?.dataLoadingError as? DataLoadingError == lost)
        #expect(test.loader.loadCount == 2 && clock.sleeps.count == 1)
    }

    @Test("what will not be gone next time is not tried again")
    func permanent() async {
        for error in [DataLoadingError.badURL, .statusCodeUnacceptable(404)] {
            let test = failing(error)
            let sequence = test.pipeline.images(with: request).retrying(policy(5), clock: clock)
            let thrown = await #expect(throws: ImagePipeline.Error.self) { try await sequence.response() }
            #expect(thrown?.dataLoadingError as? DataLoadingError == error)
            #expect(test.loader.loadCount == 1)
        }
        #expect(clock.sleeps.isEmpty)
    }

    @Test("connections, busy servers and unknown errors are worth another attempt; the rest is not")
    func transientErrors() {
        struct Unknown: Error {}
        let transient: [any Error] = [
            lost, DataLoadingError(.timedOut, reason: ""), DataLoadingError.statusCodeUnacceptable(503),
            DataLoadingError.statusCodeUnacceptable(429), DataLoadingError.truncatedBody(received: 1, expected: 2),
            Unknown(),
        ]
        for error in transient { #expect(RetryPolicy.isTransient(.dataLoadingFailed(error: error))) }
        let permanent: [ImagePipeline.Error] = [
            .dataLoadingFailed(error: DataLoadingError.statusCodeUnacceptable(404)),
            .dataLoadingFailed(error: DataLoadingError.noLoader(scheme: "http")),
            .dataLoadingFailed(error: DataLoadingError.fileNotFound("/a")),
            .dataLoadingFailed(error: CancellationError()), .cancelled, .pipelineInvalidated, .dataIsEmpty,
            .dataDownloadExceededMaximumSize, .dataMissingInCache,
        ]
        for error in permanent { #expect(!RetryPolicy.isTransient(error)) }
    }

    @Test("times grow to a limit, and chance only shortens them")
    func delays() async {
        var policy = RetryPolicy()
        #expect(policy.delay(after: 1) == .milliseconds(500))
        #expect(policy.delay(after: 3) == .seconds(2))
        #expect(policy.delay(after: 1_000_000) == .seconds(30))
        policy.jitter = 0.5
        let test = failing(lost)
        let sequence = test.pipeline.images(with: request).retrying(policy, clock: clock)
        let task = Task { try await sequence.response() }
        await waitUntil { clock.sleeperCount == 1 }
        #expect(clock.sleeps[0] >= .milliseconds(250) && clock.sleeps[0] <= .milliseconds(500))
        task.cancel()
        _ = await task.result
    }

    @Test("cancelled while it waits, a retry ends at once, with cancelled")
    func cancelled() async {
        let test = failing(lost)
        let sequence = test.pipeline.images(with: request).retrying(policy(5), clock: clock)
        let task = Task { try await sequence.response() }
        await waitUntil { clock.sleeperCount == 1 }
        task.cancel()
        guard case .failure(let error) = await task.result, case .cancelled? = error as? ImagePipeline.Error else {
            Issue.record("not cancelled")
            return
        }
        await waitUntil { clock.sleeperCount == 0 }
        #expect(test.loader.loadCount == 1)
    }

    @Test("recipes are made of recipes")
    func composed() async throws {
        let test = failing(lost)
        let alternative = ImageRequest(url: URL(string: "http://test.com/b"))
        let first = test.pipeline.images(with: request).retrying(policy(2), clock: clock)
        let task = Task {
            try await ImageSequence.firstAvailable([first, test.pipeline.images(with: alternative)]).response()
        }
        await waitUntil { clock.sleeperCount == 1 }
        test.loader.answer("http://test.com/b", with: .init(chunks: [Data([1])]))
        clock.advance(by: .seconds(1))
        #expect(try await task.value.request.url == alternative.url)
        #expect(test.loader.loadCount == 3)
    }
}
