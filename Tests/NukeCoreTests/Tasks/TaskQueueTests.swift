import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)))
@ImagePipelineActor
struct TaskQueueTests {
    /// Writes down the order in which bodies ran.
    @ImagePipelineActor
    final class Log {
        var names: [String] = []
        var events: [String] = []
    }

    let log = Log()

    private func add(
        _ name: String, to queue: TaskQueue, priority: ImageRequest.Priority = .normal, gate: AsyncGate? = nil
    ) -> TaskQueue.Operation {
        queue.add(priority: priority) { [log] in
            log.names.append(name)
            await gate?.wait()
        }
    }

    private func isIdle(_ queue: TaskQueue) -> Bool { queue.pendingCount == 0 && queue.runningCount == 0 }

    @Test("the default limit is the number of processors [TQ-01]")
    func defaultLimit() {
        #expect(TaskQueue().maxConcurrentOperationCount == HostLimits.processorCount)
        #expect(HostLimits.processorCount >= 1)
    }

    @Test("work starts below the limit, and a body that returns frees its slot [TQ-02]")
    func startsBelowLimit() async {
        let queue = TaskQueue(maxConcurrentOperationCount: 1)
        let gate = AsyncGate()
        _ = add("a", to: queue, gate: gate)
        _ = add("b", to: queue)
        await waitUntil { log.names == ["a"] }
        #expect(queue.runningCount == 1 && queue.pendingCount == 1)
        gate.open()
        await waitUntil { isIdle(queue) }
        #expect(log.names == ["a", "b"])
    }

    @Test("what is above the limit waits [TQ-03]", arguments: [1, 2])
    func limitHolds(limit: Int) async {
        let queue = TaskQueue(maxConcurrentOperationCount: limit)
        let gate = AsyncGate()
        for name in ["a", "b", "c"] { _ = add(name, to: queue, gate: gate) }
        await waitUntil { log.names.count == limit }
        for _ in 0..<20 { await Task.yield() }
        #expect(log.names == Array(["a", "b", "c"].prefix(limit)))
        #expect(queue.pendingCount == 3 - limit)
        gate.open()
        await waitUntil { isIdle(queue) }
        #expect(log.names == ["a", "b", "c"])
    }

    @Test("raising the limit starts what waits; lowering it lets what runs finish [TQ-04]")
    func limitChanges() async {
        let queue = TaskQueue(maxConcurrentOperationCount: 1)
        let gates = (0..<4).map { _ in AsyncGate() }
        for index in 0..<4 { _ = add("\(index)", to: queue, gate: gates[index]) }
        await waitUntil { log.names == ["0"] }
        queue.maxConcurrentOperationCount = 1
        for _ in 0..<20 { await Task.yield() }
        #expect(log.names == ["0"])
        queue.maxConcurrentOperationCount = 3
        await waitUntil { log.names == ["0", "1", "2"] }
        queue.maxConcurrentOperationCount = 1
        gates[0].open()
        gates[1].open()
        await waitUntil { queue.runningCount == 1 }
        for _ in 0..<20 { await Task.yield() }
        #expect(log.names == ["0", "1", "2"])
        gates[2].open()
        await waitUntil { log.names.count == 4 }
        gates[3].open()
        await waitUntil { isIdle(queue) }
    }

    @Test("the highest priority goes first, and within one the first come [TQ-05]")
    func priorityOrder() async {
        let queue = TaskQueue(maxConcurrentOperationCount: 1)
        queue.isSuspended = true
        for (name, priority) in [("n1", ImageRequest.Priority.normal), ("v", .veryLow), ("h1", .high), ("n2", .normal)]
        {
            _ = add(name, to: queue, priority: priority)
        }
        _ = add("h2", to: queue, priority: .high)
        _ = add("vh", to: queue, priority: .veryHigh)
        _ = add("l", to: queue, priority: .low)
        queue.isSuspended = false
        await waitUntil { isIdle(queue) }
        #expect(log.names == ["vh", "h1", "h2", "n1", "n2", "l", "v"])
    }

    @Test("raised work stands last among its new peers, lowered work first, the last lowered foremost [TQ-06]")
    func priorityMoves() async {
        let queue = TaskQueue(maxConcurrentOperationCount: 1)
        queue.isSuspended = true
        let raised = add("raised", to: queue, priority: .low)
        _ = add("h1", to: queue, priority: .high)
        let lowered1 = add("lowered1", to: queue, priority: .veryHigh)
        let lowered2 = add("lowered2", to: queue, priority: .veryHigh)
        _ = add("n1", to: queue)
        raised.priority = .high
        lowered1.priority = .normal
        lowered2.priority = .normal
        queue.isSuspended = false
        await waitUntil { isIdle(queue) }
        #expect(log.names == ["h1", "raised", "lowered2", "lowered1", "n1"])
    }

    @Test("the priority of running or cancelled work is just stored [TQ-07]")
    func priorityOfRunningWork() async {
        let queue = TaskQueue(maxConcurrentOperationCount: 1)
        let gate = AsyncGate()
        let running = add("running", to: queue, gate: gate)
        await waitUntil { log.names == ["running"] }
        let cancelled = add("cancelled", to: queue)
        _ = add("other", to: queue)
        cancelled.cancel()
        var events: [TaskQueue.Event] = []
        queue.onEvent = { events.append($0) }
        running.priority = .veryHigh
        cancelled.priority = .veryHigh
        #expect(events == [] && queue.pendingCount == 1)
        #expect(running.priority == .veryHigh && cancelled.priority == .veryHigh)
        gate.open()
        await waitUntil { isIdle(queue) }
        #expect(log.names == ["running", "other"])
    }

    @Test("work starts at normal priority, and setting the same changes nothing [TQ-08]")
    func normalPriority() async {
        let queue = TaskQueue(maxConcurrentOperationCount: 1)
        queue.isSuspended = true
        let operation = queue.add {}
        #expect(operation.priority == .normal)
        var events: [TaskQueue.Event] = []
        queue.onEvent = { events.append($0) }
        operation.priority = .normal
        #expect(events == [])
        operation.priority = .high
        #expect(events == [.priorityChanged])
        queue.isSuspended = false
        await waitUntil { isIdle(queue) }
    }

    @Test("cancelled while it waits, work never runs [TQ-09]")
    func cancelPending() async {
        let queue = TaskQueue(maxConcurrentOperationCount: 1)
        queue.isSuspended = true
        let operation = add("a", to: queue)
        var events: [TaskQueue.Event] = []
        queue.onEvent = { events.append($0) }
        operation.cancel()
        #expect(queue.pendingCount == 0 && events == [.cancelled])
        _ = add("b", to: queue)
        queue.isSuspended = false
        await waitUntil { isIdle(queue) }
        #expect(log.names == ["b"])
    }

    @Test("cancelled between its start and its body, work never runs and its slot is freed [TQ-10]")
    func cancelBeforeBody() async {
        let queue = TaskQueue(maxConcurrentOperationCount: 1)
        let operation = add("a", to: queue)
        #expect(queue.runningCount == 1)
        operation.cancel()
        _ = add("b", to: queue)
        await waitUntil { isIdle(queue) }
        #expect(log.names == ["b"])
    }

    @Test("cancelling running work cancels its Swift task and keeps the slot until it returns [TQ-11]")
    func cancelRunning() async {
        let queue = TaskQueue(maxConcurrentOperationCount: 1)
        let (started, cancelled, end) = (AsyncGate(), AsyncGate(), AsyncGate())
        let operation = queue.add {
            await withTaskCancellationHandler {
                started.open()
                await end.wait()
            } onCancel: {
                cancelled.open()
            }
        }
        _ = add("b", to: queue)
        await started.wait()
        operation.cancel()
        await cancelled.wait()
        for _ in 0..<20 { await Task.yield() }
        #expect(queue.runningCount == 1 && queue.pendingCount == 1 && log.names == [])
        end.open()
        await waitUntil { isIdle(queue) }
        #expect(log.names == ["b"])
    }

    @Test("cancelling twice counts once [TQ-12]")
    func cancelTwice() async {
        let queue = TaskQueue(maxConcurrentOperationCount: 1)
        queue.isSuspended = true
        let operation = add("a", to: queue)
        var events: [TaskQueue.Event] = []
        queue.onEvent = { events.append($0) }
        operation.cancel()
        operation.cancel()
        #expect(events == [.cancelled] && queue.pendingCount == 0)
    }

    @Test("a suspended queue starts nothing and lets running work go on; resuming starts what waits [TQ-13]")
    func suspension() async {
        let queue = TaskQueue(maxConcurrentOperationCount: 2)
        let gate = AsyncGate()
        _ = add("running", to: queue, gate: gate)
        await waitUntil { log.names == ["running"] }
        queue.isSuspended = true
        queue.isSuspended = true
        _ = add("waiting", to: queue)
        gate.open()
        await waitUntil { queue.runningCount == 0 }
        for _ in 0..<20 { await Task.yield() }
        #expect(log.names == ["running"] && queue.pendingCount == 1 && queue.isSuspended)
        queue.isSuspended = false
        await waitUntil { isIdle(queue) }
        #expect(log.names == ["running", "waiting"])
    }

    @Test("running work is kept alive though nobody holds it [TQ-14]")
    func keepsRunningWork() async {
        let queue = TaskQueue(maxConcurrentOperationCount: 1)
        let gate = AsyncGate()
        weak var operation: TaskQueue.Operation?
        operation = queue.add { [log] in
            await gate.wait()
            log.names.append("done")
        }
        for _ in 0..<20 { await Task.yield() }
        #expect(operation != nil)
        gate.open()
        await waitUntil { isIdle(queue) }
        #expect(log.names == ["done"])
        await waitUntil { operation == nil }
    }

    @Test("events come with counts that are right at the time [TQ-15]")
    func eventCounts() async {
        let queue = TaskQueue(maxConcurrentOperationCount: 1)
        queue.isSuspended = true
        queue.onEvent = { [log, unowned queue] event in
            log.events.append("\(event) \(queue.pendingCount)+\(queue.runningCount)")
        }
        let a = add("a", to: queue)
        let b = add("b", to: queue)
        a.priority = .high
        b.cancel()
        queue.isSuspended = false
        await waitUntil { isIdle(queue) }
        #expect(log.events == ["enqueued 1+0", "enqueued 2+0", "priorityChanged 2+0", "cancelled 1+0", "finished 0+0"])
    }

    @Test("a queue serves again after it ran empty, and work may add work [TQ-16]")
    func reuse() async {
        let queue = TaskQueue(maxConcurrentOperationCount: 1)
        _ = add("a", to: queue)
        await waitUntil { isIdle(queue) }
        _ = queue.add { [log] in
            log.names.append("outer")
            queue.add { log.names.append("inner") }
        }
        await waitUntil { isIdle(queue) }
        #expect(log.names == ["a", "outer", "inner"])
    }

    @Test("suspension and limit can be set from any thread at once without starting too much [TQ-17]")
    func concurrentSettings() async {
        let queue = TaskQueue(maxConcurrentOperationCount: 2)
        let gate = AsyncGate()
        var most = 0
        queue.isSuspended = true
        for _ in 0..<20 {
            queue.add {
                most = max(most, queue.runningCount)
                await gate.wait()
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    queue.isSuspended = true
                    queue.maxConcurrentOperationCount = 2
                    queue.isSuspended = false
                }
            }
        }
        queue.isSuspended = false
        await waitUntil { queue.runningCount == 2 }
        for _ in 0..<50 { await Task.yield() }
        #expect(queue.runningCount == 2 && most <= 2)
        gate.open()
        await waitUntil { isIdle(queue) }
        #expect(most <= 2)
    }

    @Test("bodies run on the pipeline's actor [TQ-18]")
    func isolation() async {
        let queue = TaskQueue()
        let done = AsyncGate()
        queue.add {
            ImagePipelineActor.shared.assertIsolated()
            done.open()
        }
        await done.wait()
    }

    @Test("of three, the middle one is cancelled: the others run [TQ-19]")
    func cancelMiddle() async {
        let queue = TaskQueue(maxConcurrentOperationCount: 1)
        queue.isSuspended = true
        let operations = ["1", "2", "3"].map { add($0, to: queue) }
        operations[1].cancel()
        queue.isSuspended = false
        await waitUntil { isIdle(queue) }
        #expect(log.names == ["1", "3"])
    }
}
