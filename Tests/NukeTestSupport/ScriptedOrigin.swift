public import FoundationEssentials
import NukeCore
public import NukeTestKit

/// The origin of the conformance suite: a scripted server that has an answer for each path.
public final class ScriptedOrigin: DataLoaderOrigin {
    private struct NoAnswer: Error {}

    private let answers: AnswerTable
    private let server: ScriptedServer

    /// Starts the server.
    public init() throws {
        let answers = AnswerTable()
        self.answers = answers
        server = try ScriptedServer { request in
            answers[request.target].map(Self.steps) ?? [.response(404)]
        }
    }

    public func serve(_ answer: OriginAnswer) throws -> URL {
        guard let url = URL(string: server.url(answers.add(answer))) else { throw NoAnswer() }
        return url
    }

    public func requestCount(for url: URL) -> Int {
        server.requests.filter { $0.target == url.path }.count
    }

    private static func steps(_ answer: OriginAnswer) -> [ScriptedServer.Step] {
        let hasBody = answer.status != 204 && answer.status != 304
        let isChunked = hasBody && answer.declaredLength == nil
        var fields = answer.headers.fields.map { ($0.name, $0.value) }
        if let length = answer.declaredLength { fields.append(("Content-Length", "\(length)")) }
        if isChunked { fields.append(("Transfer-Encoding", "chunked")) }
        var steps: [ScriptedServer.Step] = []
        var sent = 0
        for step in answer.steps {
            switch step {
            case .head: steps.append(.send(ScriptedServer.head(answer.status, headers: fields)))
            case .send(let data):
                sent += data.count
                steps.append(isChunked ? .chunk(Array(data)) : .send(Array(data)))
            case .wait(let gate): steps.append(.run { gate.wait() })
            case .drop: return steps + [.reset]
            }
        }
        if isChunked { steps.append(.lastChunk) }
        if let length = answer.declaredLength, sent < length { steps.append(.close) }
        return steps
    }
}

private final class AnswerTable: Sendable {
    private let answers = Lock([OriginAnswer]())

    func add(_ answer: OriginAnswer) -> String {
        answers.withLock { answers in
            answers.append(answer)
            return "/\(answers.count - 1)"
        }
    }

    subscript(path: String) -> OriginAnswer? {
        answers.withLock { answers in
            Int(path.dropFirst()).flatMap { answers.indices.contains($0) ? answers[$0] : nil }
        }
    }
}
