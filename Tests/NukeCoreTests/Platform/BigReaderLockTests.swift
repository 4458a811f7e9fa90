import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.timeLimit(.minutes(5)))
struct BigReaderLockTests {
    @Test("writers exclude each other and readers, and readers see whole states")
    func exclusion() async {
        let box = Box()
        await withTaskGroup { group in
            for number in 0..<6 {
                group.addTask {
                    await box.threads.run {
                        for _ in 0..<2_000 {
                            if number < 2 {
                                box.lock.write { state in
                                    state.first += 1
                                    state.second += 1
                                }
                            } else {
                                box.lock.read { state, lane in
                                    #expect(state.first == state.second && (0..<Lanes.count).contains(lane))
                                }
                            }
                        }
                    }
                }
            }
        }
        #expect(box.lock.read { state, _ in state.first } == 4_000)
    }

    @Test("a writer waits for a reader, on whichever processor that is")
    func waitingWriter() async {
        let box = Box()
        let (isReading, mayEnd) = (ThreadGate(), ThreadGate())
        let hasEnded = Locked(false)
        async let reader: Void = box.threads.run {
            box.lock.read { _, _ in
                isReading.open()
                mayEnd.wait()
                hasEnded.withLock { $0 = true }
            }
        }
        await box.threads.run { isReading.wait() }
        async let writer: Bool = box.threads.run { box.lock.write { _ in hasEnded.withLock { $0 } } }
        mayEnd.open()
        await reader
        #expect(await writer)
    }

    private final class Box: Sendable {
        struct State: Sendable {
            var first = 0
            var second = 0
        }

        let lock = BigReaderLock(State())
        let threads = CodecThreads(name: "test", count: 4)
    }
}
