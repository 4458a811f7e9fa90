import Glibc
import NukeKit
import Synchronization

/// What two threads do together, against one: only rounds count in which each had a processor to itself throughout.
///
/// Prints "<name> <ns> <rounds>" for one thread and for two, and the ratio of what they get done in a time.
enum ThreadComparison {
    private struct Span: Sendable {
        let start: Double
        let end: Double
        let cpu: Double

        var hadProcessor: Bool { cpu > (end - start) * 0.97 }
    }

    static func run(_ body: @escaping @Sendable (_ index: Int, _ offset: Int) -> Void) async {
        let (rounds, count) = (200, 20_000)
        let threads = CodecThreads(name: "bench", count: 2)
        var times: [[Double]] = [[], []]
        for round in 0..<2 * rounds {
            let width = round % 2 + 1
            let spans = await together(width, on: threads) { offset in for index in 0..<count { body(index, offset) } }
            guard spans.allSatisfy(\.hadProcessor), let start = spans.map(\.start).min(),
                let end = spans.map(\.end).max()
            else { continue }
            times[width - 1].append((end - start) * 1e6 / Double(count * width))
        }
        let medians = times.map { $0.isEmpty ? .nan : $0.sorted()[$0.count / 2] }
        print("cache-hit-1t-alone", medians[0], times[0].count)
        print("cache-hit-2t-alone", medians[1], times[1].count)
        print("two-threads-over-one", medians[0] / medians[1])
    }

    /// Starts so many threads at the same moment.
    private static func together(
        _ width: Int, on threads: CodecThreads, _ body: @escaping @Sendable (_ offset: Int) -> Void
    ) async -> [Span] {
        let line = StartingLine()
        return await withTaskGroup(of: Span.self) { group in
            for number in 0..<width {
                group.addTask {
                    await threads.run {
                        line.waiting.wrappingAdd(1, ordering: .relaxed)
                        while line.waiting.load(ordering: .relaxed) < width {}
                        let (start, cpu) = (Clock.wall, Clock.threadCPU)
                        body(number * 501)
                        return Span(start: start, end: Clock.wall, cpu: Clock.threadCPU - cpu)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    private final class StartingLine: Sendable {
        let waiting = Atomic<Int>(0)
    }
}
