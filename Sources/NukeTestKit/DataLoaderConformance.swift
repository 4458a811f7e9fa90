public import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Checks that a loader keeps what `DataLoading` promises, against a server that the test provides.
///
/// ```swift
/// let violations = try await DataLoaderConformance(loader: MyLoader(), origin: MyOrigin()).check()
/// #expect(violations.isEmpty)
/// ```
public struct DataLoaderConformance: Sendable {
    let loader: any DataLoading
    let origin: any DataLoaderOrigin
    /// Seconds after which something that has to happen counts as missing.
    let patience: Double

    /// Creates a suite.
    ///
    /// `patience` is how many seconds something that has to happen may take; 20 by default. It is used up only where a
    /// promise is broken.
    public init(loader: any DataLoading, origin: any DataLoaderOrigin, patience: Double = 20) {
        self.loader = loader
        self.origin = origin
        self.patience = patience
    }

    /// Runs the checks with these names, all by default, and returns the promises that are not kept.
    ///
    /// Throws what the origin throws.
    public func check(_ isIncluded: (String) -> Bool = { _ in true }) async throws -> [ConformanceViolation] {
        let checks: [(name: String, run: @Sendable (Self) async throws -> [String])] = [
            ("response comes first", { try await $0.checkResponse() }),
            ("a body keeps its order", { try await $0.checkOrder() }),
            ("an empty body", { try await $0.checkEmptyBody() }),
            ("a body of unknown length", { try await $0.checkUnknownLength() }),
            ("the head does not wait for the body", { try await $0.checkEarlyHead() }),
            ("every status is delivered", { try await $0.checkStatuses() }),
            ("statuses without a body", { try await $0.checkBodilessStatuses() }),
            ("bodies never mix", { try await $0.checkConcurrentLoads() }),
            ("an error before the response", { try await $0.checkDropBeforeHead() }),
            ("an error within the body", { try await $0.checkDropWithinBody() }),
            ("a short body is an error", { try await $0.checkShortBody() }),
            ("cancel before the response", { try await $0.checkCancelAtOnce() }),
            ("cancel within the body", { try await $0.checkCancelWithinBody() }),
            ("cancel from a callback", { try await $0.checkCancelFromCallback() }),
            ("cancel after the end", { try await $0.checkCancelAfterEnd() }),
            ("pause and resume", { try await $0.checkPause() }),
        ]
        var violations: [ConformanceViolation] = []
        for check in checks where isIncluded(check.name) {
            for message in try await check.run(self) {
                violations.append(ConformanceViolation(check: check.name, message: message))
            }
        }
        return violations
    }

    // MARK: What the checks share

    /// Loads an answer to its end and returns what happened, and what is wrong about every load.
    func load(_ answer: OriginAnswer) async throws -> (record: LoadRecorder.Record, problems: [String]) {
        let recorder = LoadRecorder()
        recorder.start(loader, Self.request(try origin.serve(answer)))
        return await end(of: recorder)
    }

    /// Waits for the end of a load, and for what a faulty loader may do after it.
    func end(of recorder: LoadRecorder) async -> (record: LoadRecorder.Record, problems: [String]) {
        guard await recorder.wait(atMost: patience, until: { !$0.completions.isEmpty }) else {
            return (recorder.record, ["there was no completion within \(patience) seconds"])
        }
        await settle()
        let record = recorder.record
        return (record, generalProblems(record))
    }

    /// What no load may do.
    func generalProblems(_ record: LoadRecorder.Record) -> [String] {
        var problems: [String] = []
        if record.completions.count > 1 { problems.append("completion was called \(record.completions.count) times") }
        if record.callsAfterCompletion > 0 { problems.append("\(record.callsAfterCompletion) calls after completion") }
        if record.overlaps > 0 { problems.append("\(record.overlaps) calls began before another had returned") }
        if let first = record.responses.first, record.responses.contains(where: { $0 != first }) {
            problems.append("the response changed between calls")
        }
        return problems
    }

    /// Loads something else to its end, twice, so that what the loader still had to say has been said.
    func settle() async {
        for _ in 0..<2 {
            let recorder = LoadRecorder()
            guard let url = try? origin.serve(OriginAnswer(body: Self.pattern(0, count: 100))) else { return }
            recorder.start(loader, Self.request(url))
            _ = await recorder.wait(atMost: patience) { !$0.completions.isEmpty }
        }
    }

    /// Bytes that differ from seed to seed and from place to place.
    static func pattern(_ seed: UInt64, count: Int) -> Data {
        var random = Random(state: seed &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678_9ABC_DEF1)
        var data = Data(capacity: count)
        while data.count < count {
            // Pieces of a block, since making every byte anew takes long in debug builds.
            let start = Int(random.next() % UInt64(block.count - 1000))
            data.append(contentsOf: block[start..<(start + min(1000, count - data.count))])
        }
        return data
    }

    private static let block: [UInt8] = {
        var random = Random(state: 1)
        return (0..<(64 << 10)).map { _ in UInt8(truncatingIfNeeded: random.next() >> 24) }
    }()

    /// Xorshift: the same numbers everywhere, from any state but 0.
    private struct Random {
        var state: UInt64

        mutating func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
    }

    /// What differs between the bytes that were to come and those that came.
    static func difference(_ body: Data, _ expected: Data) -> [String] {
        if body == expected { return [] }
        if body.count != expected.count { return ["\(body.count) bytes came instead of \(expected.count)"] }
        let place = zip(body, expected).prefix { $0 == $1 }.count
        return ["the bytes differ from number \(place) on"]
    }

    /// A request whose time does not run out before that of the check: a busy machine is no fault of the loader.
    static func request(_ url: URL) -> DataRequest {
        var request = DataRequest(url: url)
        request.timeout = 3600
        return request
    }
}
