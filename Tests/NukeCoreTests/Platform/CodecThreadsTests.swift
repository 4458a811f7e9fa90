import FoundationEssentials
import Glibc
import NukeTestSupport
import Synchronization
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)), .holdsCodecThreads)
struct CodecThreadsTests {
    @Test("as many closures run at once as there are threads, and no more")
    func concurrency() async {
        let threads = CodecThreads(name: "test", count: 3)
        let running = Locked((now: 0, most: 0))
        let gate = ThreadGate()
        let tasks = (0..<10).map { _ in
            Task {
                await threads.run {
                    running.withLock { running in
                        running.now += 1
                        running.most = max(running.most, running.now)
                    }
                    gate.wait()
                    running.withLock { $0.now -= 1 }
                }
            }
        }
        await waitUntil { running.withLock { $0.now } == 3 }
        for _ in 0..<50 { await Task.yield() }
        #expect(running.withLock { $0.most } == 3)
        gate.open()
        for task in tasks { await task.value }
        #expect(running.withLock { $0.most } == 3)
    }

    @Test("of idle threads the one that worked last is woken", arguments: [true, false])
    func warmThread(isFirstLast: Bool) async {
        let threads = CodecThreads(name: "test", count: 2)
        let gates = [ThreadGate(), ThreadGate()]
        let names = Locked<[Int: pthread_t]>([:])
        for index in 0...1 {
            threads.enqueue {
                names.withLock { $0[index] = pthread_self() }
                gates[index].wait()
            }
        }
        await waitUntil { names.withLock { $0.count } == 2 }
        let order = isFirstLast ? [1, 0] : [0, 1]
        for (count, index) in order.enumerated() {
            gates[index].open()
            await waitUntil { threads.jobs.idleCount == count + 1 }
        }
        let woken = await threads.run { pthread_self() }
        #expect(woken == names.withLock { $0[order[1]] })
    }

    @Test("work starts by priority, then in the order of arrival")
    func order() async {
        let threads = CodecThreads(name: "test", count: 1)
        let (started, gate) = (AsyncGate(), ThreadGate())
        threads.enqueue {
            started.open()
            gate.wait()
        }
        await started.wait()
        let log = Locked<[String]>([])
        for (name, priority) in [("n1", ImageRequest.Priority.normal), ("l", .low), ("h", .veryHigh), ("n2", .normal)] {
            threads.enqueue(priority: priority) { log.withLock { $0.append(name) } }
        }
        gate.open()
        await threads.run(priority: .veryLow) {}
        #expect(log.withLock { $0 } == ["h", "n1", "n2", "l"])
    }

    @Test("what a body throws comes through with its type")
    func typedThrow() async {
        let threads = CodecThreads(name: "test", count: 1)
        do throws(DataLoadingError) {
            try await threads.run { () throws(DataLoadingError) -> Void in throw .badURL }
            Issue.record("no error")
        } catch {
            #expect(error == .badURL)
        }
    }

    @Test("threads end when their owner is gone")
    func end() async {
        var threads: CodecThreads? = CodecThreads(name: "test", count: 2)
        final class Token: Sendable {}
        weak var token: Token?
        do {
            let strong = Token()
            token = strong
            await threads?.run { _ = strong }
        }
        threads = nil
        await waitUntil { token == nil }
    }

    @Test("with every codec thread inside a decoder, the pool and the pipeline's actor go on")
    func poolStaysFree() async throws {
        let gate = ThreadGate()
        let inside = Locked(0)
        let decoder = MockImageDecoder(willDecode: {
            inside.withLock { $0 += 1 }
            gate.wait()
        })
        let test = TestPipeline(decoder: decoder)
        let count = CodecThreads.shared.count
        let tasks = (0..<count).map { index in
            test.pipeline.imageTask(with: ImageRequest(id: "\(index)", data: { Data([1]) }))
        }
        await waitUntil { inside.withLock { $0 } == count }
        let detached = Task.detached { 1 }
        #expect(await detached.value == 1)
        #expect(await Task { @ImagePipelineActor in 2 }.value == 2)
        let cached = ImageRequest(id: "cached", image: { ImageContainer(image: .mock()) })
        _ = try await test.pipeline.image(for: cached)
        #expect(inside.withLock { $0 } == count)
        gate.open()
        for task in tasks { _ = try await task.image }
    }

    @Test("the host's limits are sensible, and Ubuntu is told from Debian")
    func host() {
        #expect(HostLimits.processorCount >= 1 && HostLimits.memory > 64 << 20)
        #expect(HostDistribution.names(in: "NAME=\"x\"\nID=ubuntu\n") == ["ubuntu"])
        #expect(
            HostDistribution.names(in: "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n") == [
                "linuxmint", "ubuntu", "debian",
            ])
        #expect(HostDistribution.names(in: "VERSION_ID=\"12\"\nID=debian") == ["debian"])
        let name = HostDistribution.package(debian: "a", ubuntu: "b")
        #expect(name == "a" || name == "b")
    }

    @Test("a lock gives exclusive access to its state")
    func lock() async {
        let lock = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<1000 { lock.withLock { $0 += 1 } } }
            }
        }
        #expect(lock.withLock { $0 } == 8000)
    }
}
