internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// Cancelling, pausing, going on.
extension DataLoaderConformance {
    func checkCancelAtOnce() async throws -> [String] {
        let gate = OriginGate()
        let body = Self.pattern(6, count: 1000)
        let recorder = LoadRecorder()
        let answer = OriginAnswer(declaredLength: body.count, steps: [.wait(gate), .head, .send(body)])
        recorder.start(loader, Self.request(try origin.serve(answer)))
        recorder.cancel()
        gate.open()
        await settle()
        return silence(recorder.record)
    }

    func checkCancelWithinBody() async throws -> [String] {
        let gate = OriginGate()
        let body = Self.pattern(7, count: 100_000)
        let steps: [OriginAnswer.Step] = [
            .head, .send(body.prefix(10_000)), .wait(gate), .send(body.dropFirst(10_000)),
        ]
        let recorder = LoadRecorder()
        let url = try origin.serve(OriginAnswer(declaredLength: body.count, steps: steps))
        recorder.start(loader, Self.request(url))
        // The origin holds the rest back, so no callback is under way when the load is cancelled.
        let isThere = await recorder.wait(atMost: patience) { $0.body.count == 10_000 }
        recorder.cancel()
        recorder.cancel()
        gate.open()
        await settle()
        return (isThere ? [] : ["the first bytes were not delivered"]) + silence(recorder.record)
    }

    func checkCancelFromCallback() async throws -> [String] {
        let gate = OriginGate()
        let body = Self.pattern(8, count: 1 << 20)
        let recorder = LoadRecorder()
        let answer = OriginAnswer(declaredLength: body.count, steps: [.wait(gate), .head, .send(body)])
        recorder.start(loader, Self.request(try origin.serve(answer))) { [weak recorder] _ in recorder?.cancel() }
        gate.open()
        let isThere = await recorder.wait(atMost: patience) { !$0.body.isEmpty }
        await settle()
        return (isThere ? [] : ["the first bytes were not delivered"]) + silence(recorder.record)
    }

    func checkCancelAfterEnd() async throws -> [String] {
        let recorder = LoadRecorder()
        recorder.start(loader, Self.request(try origin.serve(OriginAnswer(body: Self.pattern(9, count: 10)))))
        let (_, problems) = await end(of: recorder)
        recorder.cancel()
        await settle()
        return problems + (recorder.record.callsAfterCancel > 0 ? ["a callback came after cancel"] : [])
    }

    private func silence(_ record: LoadRecorder.Record) -> [String] {
        var problems: [String] = []
        if record.callsAfterCancel > 0 { problems.append("\(record.callsAfterCancel) callbacks after cancel") }
        if !record.completions.isEmpty { problems.append("completion was called though the load was cancelled") }
        return problems
    }

    /// Of loaders whose handle is a `DataTransfer`.
    func checkPause() async throws -> [String] {
        let gate = OriginGate()
        let body = Self.pattern(10, count: 1 << 20)
        let recorder = LoadRecorder()
        let answer = OriginAnswer(declaredLength: body.count, steps: [.wait(gate), .head, .send(body)])
        recorder.start(loader, Self.request(try origin.serve(answer))) { ($0 as? any DataTransfer)?.pause() }
        guard let transfer = recorder.transfer as? any DataTransfer else {
            gate.open()
            return await end(of: recorder).problems
        }
        gate.open()
        var problems: [String] = []
        if await !recorder.wait(atMost: patience, until: { !$0.body.isEmpty }) {
            problems.append("the first bytes were not delivered")
        }
        let countAtPause = recorder.record.body.count
        await settle()
        let record = recorder.record
        if record.body.count != countAtPause || !record.completions.isEmpty {
            problems.append("\(record.body.count - countAtPause) bytes came after pause")
        }
        for priority in ImageRequest.Priority.allCases {
            transfer.priority = priority
            if transfer.priority != priority { problems.append("the priority \(priority) was not kept") }
        }
        transfer.resume()
        let (final, found) = await end(of: recorder)
        return problems + found + Self.difference(final.body, body) + unexpected(final.error)
    }
}
