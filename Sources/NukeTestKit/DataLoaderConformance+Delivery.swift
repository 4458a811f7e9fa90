internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// What arrives when all goes well.
extension DataLoaderConformance {
    func checkResponse() async throws -> [String] {
        let body = Self.pattern(1, count: 5000)
        let answer = OriginAnswer(
            status: 200, headers: ["Content-Type": "image/x-test; q=1", "X-Twice": "a", "x-twice": "b"],
            declaredLength: body.count, steps: [.head, .send(body)])
        var (record, problems) = try await load(answer)
        problems += Self.difference(record.body, body)
        if let error = record.error { problems.append("completion brought \(error)") }
        guard let response = record.responses.first else { return problems + ["no response came"] }
        if response.statusCode != 200 { problems.append("the status is \(response.statusCode as Any)") }
        if response.mimeType != "image/x-test" { problems.append("the MIME type is \(response.mimeType as Any)") }
        let twice = response.headers.values(for: "X-TWICE")
        // In any order: clients that keep fields by their names, as URLSession's on Linux, lose it.
        if twice.sorted() != ["a", "b"] { problems.append("a field that was sent twice has the values \(twice)") }
        if response.expectedContentLength != 5000 {
            problems.append("the expected length is \(response.expectedContentLength) instead of 5000")
        }
        return problems
    }

    func checkOrder() async throws -> [String] {
        let body = Self.pattern(2, count: 1 << 20)
        let parts = stride(from: 0, to: body.count, by: 65_000).map { start in
            OriginAnswer.Step.send(Data(body[start..<min(start + 65_000, body.count)]))
        }
        let answer = OriginAnswer(declaredLength: body.count, steps: [.head] + parts)
        let (record, problems) = try await load(answer)
        return problems + Self.difference(record.body, body) + unexpected(record.error)
    }

    func checkEmptyBody() async throws -> [String] {
        let (record, problems) = try await load(OriginAnswer(body: Data()))
        var all = problems + Self.difference(record.body, Data()) + unexpected(record.error)
        if record.responses.first?.statusCode != 200 { all.append("no response came") }
        return all
    }

    func checkUnknownLength() async throws -> [String] {
        let body = Self.pattern(3, count: 50_000)
        let recorder = LoadRecorder()
        let url = try origin.serve(
            OriginAnswer(
                declaredLength: nil, steps: [.head, .send(body.prefix(20_000)), .send(body.dropFirst(20_000))]))
        recorder.start(loader, Self.request(url))
        let (record, problems) = await end(of: recorder)
        var all = problems + Self.difference(record.body, body) + unexpected(record.error)
        if let length = record.responses.first?.expectedContentLength, length != -1 {
            all.append("the expected length is \(length) instead of -1")
        }
        let count = origin.requestCount(for: url)
        if count != 1 { all.append("\(count) requests were sent") }
        return all
    }

    func checkEarlyHead() async throws -> [String] {
        let gate = OriginGate()
        let body = Self.pattern(4, count: 1000)
        let recorder = LoadRecorder()
        let answer = OriginAnswer(declaredLength: body.count, steps: [.head, .wait(gate), .send(body)])
        recorder.start(loader, Self.request(try origin.serve(answer)))
        let isEarly = await recorder.wait(atMost: patience) { !$0.responses.isEmpty }
        gate.open()
        let (record, problems) = await end(of: recorder)
        let late = isEarly ? [] : ["the response was not delivered before the body"]
        return late + problems + Self.difference(record.body, body) + unexpected(record.error)
    }

    func checkStatuses() async throws -> [String] {
        var all: [String] = []
        for status in [200, 201, 203, 206, 226, 300, 400, 401, 403, 404, 410, 416, 418, 429, 451, 500, 502, 503, 599] {
            let body = Self.pattern(UInt64(status), count: 300)
            let (record, problems) = try await load(OriginAnswer(status: status, body: body))
            var found = problems + Self.difference(record.body, body) + unexpected(record.error)
            if record.responses.first?.statusCode != status {
                found.append("the response has status \(record.responses.first?.statusCode as Any)")
            }
            all += found.map { "\(status): \($0)" }
        }
        return all
    }

    func checkBodilessStatuses() async throws -> [String] {
        var all: [String] = []
        for status in [204, 304] {
            let answer = OriginAnswer(status: status, declaredLength: nil, steps: [.head])
            let (record, problems) = try await load(answer)
            var found = problems + Self.difference(record.body, Data()) + unexpected(record.error)
            if record.responses.first?.statusCode != status { found.append("no response came") }
            all += found.map { "\(status): \($0)" }
        }
        return all
    }

    func checkConcurrentLoads() async throws -> [String] {
        let loads = try (0..<100).map { number in
            let body = Self.pattern(UInt64(1000 + number), count: 20_000 + number)
            let steps: [OriginAnswer.Step] = [.head, .send(body.prefix(9000)), .send(body.dropFirst(9000))]
            let url = try origin.serve(OriginAnswer(declaredLength: body.count, steps: steps))
            return (recorder: LoadRecorder(), url: url, body: body)
        }
        for load in loads { load.recorder.start(loader, Self.request(load.url)) }
        for load in loads { _ = await load.recorder.wait(atMost: patience) { !$0.completions.isEmpty } }
        await settle()
        return loads.enumerated().flatMap { number, load in
            let record = load.recorder.record
            let missing = record.completions.isEmpty ? ["there was no completion"] : []
            let all = missing + generalProblems(record) + Self.difference(record.body, load.body)
            return (all + unexpected(record.error)).map { "load \(number): \($0)" }
        }
    }

    func unexpected(_ error: (any Error)?) -> [String] { error.map { ["completion brought \($0)"] } ?? [] }
}
