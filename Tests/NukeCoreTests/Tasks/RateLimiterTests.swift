import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)))
@ImagePipelineActor
struct RateLimiterTests {
    private let clock = TestClock()
    private let log = Locked<[Int]>([])

    private var ran: [Int] { log.withLock { $0 } }

    /// Gives a limiter numbered pieces of work.
    private func execute(_ numbers: some Sequence<Int>, in limiter: RateLimiter, result: Bool = true) {
        for number in numbers {
            limiter.execute {
                log.withLock { $0.append(number) }
                return result
            }
        }
    }

    /// Lets the drain that is scheduled happen.
    private func advance(_ limiter: RateLimiter) async {
        await waitUntil { clock.sleeperCount == 1 }
        clock.advance(by: limiter.drainDelay)
    }

    @Test("the bucket starts full with 25 tokens and refills by 80 a second; the pipeline has none by default [RAT-01]")
    func defaults() async {
        #expect(!ImagePipeline.Configuration().isRateLimiterEnabled)
        #expect(TestPipeline().pipeline.rateLimiter == nil)
        let limiter = RateLimiter(clock: clock)
        execute(0..<25, in: limiter)
        #expect(ran == Array(0..<25))
        clock.advance(by: .milliseconds(12))
        execute(25..<26, in: limiter)
        #expect(ran.count == 25)
        await waitUntil { clock.sleeperCount == 1 }
        clock.advance(by: .milliseconds(26))  // 38 ms in all: three tokens
        await waitUntil { ran.count == 26 }
        execute(26..<30, in: limiter)
        #expect(ran == Array(0..<28))
    }

    @Test("as many as the burst run inside the call, the next does not [RAT-02]")
    func burst() {
        let limiter = RateLimiter(rate: 10, burst: 3, clock: clock)
        execute(0..<3, in: limiter)
        #expect(ran == [0, 1, 2])
        execute(3..<4, in: limiter)
        #expect(ran == [0, 1, 2])
    }

    @Test("of four at a rate of 10 and a burst of 2, two run at once and two later [RAT-03]")
    func fourPieces() async {
        let limiter = RateLimiter(rate: 10, burst: 2, clock: clock)
        execute(0..<4, in: limiter)
        #expect(ran == [0, 1])
        await advance(limiter)
        await waitUntil { ran == [0, 1, 2] }
        await advance(limiter)
        await waitUntil { ran == [0, 1, 2, 3] }
    }

    @Test("work that was cancelled takes no token [RAT-04]")
    func cancelledWork() {
        let limiter = RateLimiter(rate: 10, burst: 1, clock: clock)
        execute([0], in: limiter, result: false)
        execute([1], in: limiter)
        execute([2], in: limiter)
        #expect(ran == [0, 1])
    }

    @Test("while something waits, what comes queues behind it, even if there is a token [RAT-05]")
    func order() async {
        let limiter = RateLimiter(rate: 10, burst: 1, clock: clock)
        execute(0..<2, in: limiter)
        await waitUntil { clock.sleeperCount == 1 }
        clock.advance(by: .milliseconds(99))
        clock.advance(by: .seconds(1))  // wakes the drain, which has to hop here first
        execute(2..<3, in: limiter)
        #expect(ran == [0])
        await waitUntil { ran.count >= 2 }
        #expect(ran.prefix(2) == [0, 1])
        await advance(limiter)
        await waitUntil { ran == [0, 1, 2] }
    }

    @Test(
        "what waits is looked at after about two tokens' time, 15 to 100 ms [RAT-06]",
        arguments: [(80.0, 26), (10, 100), (1000, 15), (21, 100), (42, 50)])
    func delay(rate: Double, milliseconds: Int) async {
        let limiter = RateLimiter(rate: rate, burst: 1, clock: clock)
        execute(0..<2, in: limiter)
        await waitUntil { clock.sleeperCount == 1 }
        #expect(clock.sleeps == [.milliseconds(milliseconds)])
    }

    @Test("a drain runs as much as there are tokens, and schedules one more while something is left [RAT-07]")
    func drain() async {
        let limiter = RateLimiter(rate: 80, burst: 2, clock: clock)
        execute(0..<7, in: limiter)
        #expect(ran.count == 2)
        for count in [4, 6, 7] {
            await advance(limiter)
            await waitUntil { ran.count == count }
        }
        #expect(ran == Array(0..<7) && clock.sleeps.count == 3 && clock.sleeperCount == 0)
    }

    @Test("the bucket holds no more than the burst, and a clock that goes back brings nothing [RAT-08]")
    func bucket() {
        let limiter = RateLimiter(rate: 10, burst: 2, clock: clock)
        clock.advance(by: .seconds(100))
        execute(0..<2, in: limiter)
        #expect(ran == [0, 1])
        clock.advance(by: .seconds(-50))
        execute(2..<3, in: limiter, result: false)
        #expect(ran == [0, 1])
    }

    @Test("work that is always cancelled never empties the bucket [RAT-13]")
    func allCancelled() {
        let limiter = RateLimiter(rate: 10, burst: 2, clock: clock)
        execute(0..<1000, in: limiter, result: false)
        #expect(ran.count == 1000)
        execute(1000..<1002, in: limiter)
        #expect(ran.count == 1002)
    }

    // MARK: In a pipeline

    private func pipeline(isEnabled: Bool = true) -> TestPipeline {
        TestPipeline(hasDataCache: true) {
            $0.isRateLimiterEnabled = isEnabled
            $0.clock = clock
            $0.dataLoadingQueue = TaskQueue(maxConcurrentOperationCount: 100)
        }
    }

    private func exhaust(_ test: TestPipeline) { for _ in 0..<25 { test.pipeline.rateLimiter?.execute { true } } }

    private func request(_ number: Int) -> ImageRequest {
        ImageRequest(url: URL(string: "http://test.com/\(number).jpeg"))
    }

    @Test("hits, local resources and closures do not pass the limiter; loads by a loader do [RAT-09]")
    func scope() async throws {
        let test = pipeline()
        exhaust(test)
        test.dataCache?.storeData(Data([1]), for: request(1).dataKey)
        test.imageCache[ImageCacheKey(request: request(2))] = ImageContainer(image: .mock())
        _ = try await test.pipeline.image(for: request(1))
        _ = try await test.pipeline.imageTask(with: request(2)).image
        _ = try await test.pipeline.image(for: "data:,a")
        _ = try await test.pipeline.image(for: ImageRequest(id: "d", data: { Data([1]) }))
        _ = try await test.pipeline.image(for: ImageRequest(id: "i", image: { ImageContainer(image: .mock()) }))
        #expect(clock.sleeps.isEmpty)
        let task = test.pipeline.imageTask(with: request(3))
        await waitUntil { clock.sleeperCount == 1 }
        #expect(test.loader.loadCount == 0)
        clock.advance(by: .milliseconds(26))
        _ = try await task.image
        #expect(test.loader.loadCount == 1)
    }

    @Test("cancelled while it waits, a load leaves its slot at once and never starts [RAT-10]")
    func cancelled() async throws {
        let test = pipeline()
        exhaust(test)
        let task = test.pipeline.imageTask(with: request(1))
        await waitUntil { clock.sleeperCount == 1 }
        task.cancel()
        await waitUntil { test.pipeline.configuration.dataLoadingQueue.runningCount == 0 }
        let other = test.pipeline.imageTask(with: request(2))
        await waitUntil { test.pipeline.configuration.dataLoadingQueue.runningCount == 1 }
        clock.advance(by: .milliseconds(13))
        await waitUntil { clock.sleeperCount == 1 }
        clock.advance(by: .milliseconds(13))
        _ = try await other.image
        #expect(test.loader.transfers.map(\.request.url) == [request(2).url])
    }

    @Test("without the limiter every load starts at once [RAT-11]")
    func disabled() async throws {
        let test = pipeline(isEnabled: false)
        test.loader.isSuspended = true
        let tasks = (0..<60).map { test.pipeline.imageTask(with: request($0)) }
        await waitUntil { test.loader.loadCount == 60 }
        #expect(clock.sleeps.isEmpty)
        for task in tasks { task.cancel() }
    }

    @Test("each pipeline has a limiter of its own [RAT-12]")
    func perPipeline() async throws {
        let (a, b) = (pipeline(), pipeline())
        exhaust(a)
        #expect(a.pipeline.rateLimiter !== b.pipeline.rateLimiter)
        _ = try await b.pipeline.image(for: request(1))
        #expect(clock.sleeps.isEmpty)
    }
}
