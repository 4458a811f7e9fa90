import Glibc
import NukeCore

/// Reads requests from a connection, one after the other.
struct RequestReader {
    let socket: Int32
    let connection: Int
    private var buffer: [UInt8] = []

    init(socket: Int32, connection: Int) {
        self.socket = socket
        self.connection = connection
    }

    /// The next request; nil when the client has closed the connection.
    ///
    /// The beginning of a TLS handshake counts as a request with the method "TLS".
    mutating func next() -> ScriptedServer.Request? {
        if buffer.isEmpty, !fill() { return nil }
        if buffer.first == 0x16 {
            buffer = []
            return ScriptedServer.Request(method: "TLS", target: "", headers: [:], body: [], connection: connection)
        }
        var lines: [String] = []
        while true {
            guard let line = readLine() else { return nil }
            if line.isEmpty {
                if lines.isEmpty { continue }
                break
            }
            lines.append(line)
        }
        let words = lines[0].split(separator: " ", maxSplits: 2).map(String.init)
        guard words.count == 3 else { return nil }
        var headers = HTTPHeaders()
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            headers.add(String(value), for: String(line[..<colon]))
        }
        guard let body = readBody(headers) else { return nil }
        return ScriptedServer.Request(
            method: words[0], target: words[1], headers: headers, body: body, connection: connection)
    }

    private mutating func readBody(_ headers: HTTPHeaders) -> [UInt8]? {
        if headers["Transfer-Encoding"]?.lowercased() == "chunked" {
            var body: [UInt8] = []
            while let line = readLine(), let count = Int(line, radix: 16) {
                guard let bytes = readBytes(count), readLine() != nil else { return nil }
                if count == 0 { return body }
                body += bytes
            }
            return nil
        }
        return readBytes(headers["Content-Length"].flatMap { Int($0) } ?? 0)
    }

    private mutating func readLine() -> String? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                var line = buffer[..<end]
                if line.last == UInt8(ascii: "\r") { line.removeLast() }
                let text = String(decoding: line, as: UTF8.self)
                buffer.removeSubrange(...end)
                return text
            }
            guard fill() else { return nil }
        }
    }

    private mutating func readBytes(_ count: Int) -> [UInt8]? {
        while buffer.count < count {
            guard fill() else { return nil }
        }
        defer { buffer.removeSubrange(..<count) }
        return Array(buffer[..<count])
    }

    private mutating func fill() -> Bool {
        var block = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = recv(socket, &block, block.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            buffer += block[..<count]
            return true
        }
    }
}

/// Threads of the test servers: detached, named nuke-server.
enum ServerThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    static func start(_ run: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let body = Unmanaged.passRetained(Body(run))
        let status = pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            }, body.toOpaque())
        precondition(status == 0, "no thread for a test server")
        pthread_detach(thread)
    }
}
