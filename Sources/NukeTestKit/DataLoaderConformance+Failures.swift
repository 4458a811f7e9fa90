internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// What arrives when the server, or the way to it, fails.
extension DataLoaderConformance {
    func checkDropBeforeHead() async throws -> [String] {
        var (record, problems) = try await load(OriginAnswer(declaredLength: 100, steps: [.drop]))
        if record.error == nil { problems.append("completion brought no error") }
        if record.callCount > 0 { problems.append("a response was delivered though there was none") }
        return problems
    }

    func checkDropWithinBody() async throws -> [String] {
        try await checkPart { .drop }
    }

    func checkShortBody() async throws -> [String] {
        try await checkPart { nil }
    }

    /// Sends 6,000 of 10,000 bytes, then, once they have been delivered, ends so.
    private func checkPart(_ end: () -> OriginAnswer.Step?) async throws -> [String] {
        let gate = OriginGate()
        let part = Self.pattern(5, count: 6000)
        let steps: [OriginAnswer.Step] = [.head, .send(part), .wait(gate)] + [end()].compactMap { $0 }
        let recorder = LoadRecorder()
        let url = try origin.serve(OriginAnswer(declaredLength: 10_000, steps: steps))
        recorder.start(loader, Self.request(url))
        let isThere = await recorder.wait(atMost: patience) { $0.body.count >= part.count }
        gate.open()
        var (record, problems) = await self.end(of: recorder)
        if !isThere { problems.append("bytes were kept back until the body was whole") }
        if record.error == nil {
            problems.append("completion brought no error, though 4000 of 10000 bytes are missing")
        }
        return problems + Self.difference(record.body, part)
    }
}
