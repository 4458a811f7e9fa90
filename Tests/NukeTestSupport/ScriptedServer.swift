import Glibc
public import NukeCore

/// An HTTP server on 127.0.0.1 that does what a test says, byte by byte: also what no good server does.
///
/// A script answers each request with steps. Connections stay open for the next request unless a step closes them. All
/// work is done on threads of its own, so steps may block on gates.
public final class ScriptedServer: Sendable {
    /// A request as it arrived.
    public struct Request: Sendable {
        /// The method, such as "GET".
        public let method: String
        /// What stands behind the method: the path and query, or a whole URL if the client takes this for a proxy.
        public let target: String
        /// The header fields.
        public let headers: HTTPHeaders
        /// The bytes that `Content-Length` or chunks announced.
        public let body: [UInt8]
        /// Which connection it came on, counted from 0.
        public let connection: Int
    }

    /// What to do next on the connection.
    public enum Step: Sendable {
        /// Sends bytes.
        case send([UInt8])
        /// Calls a closure, which may block.
        case run(@Sendable () -> Void)
        /// Closes the connection, as a server does behind a body without a length.
        case close
        /// Breaks the connection: the client sees a reset.
        case reset
        /// Does nothing more until the client closes the connection, or the server is stopped.
        case stall
        /// Sends the bytes again and again until the client closes the connection, or the server is stopped.
        case sendForever([UInt8])

        /// Waits until the gate is open.
        public static func wait(_ gate: ThreadGate) -> Step { .run { gate.wait() } }

        /// Sends text as UTF-8.
        public static func send(_ text: String) -> Step { .send(Array(text.utf8)) }

        /// Sends a whole response with a length.
        public static func response(
            _ status: Int = 200, headers: [(String, String)] = [], body: [UInt8] = []
        ) -> Step {
            .send(head(status, headers: headers + [("Content-Length", "\(body.count)")]) + body)
        }

        /// Sends a part of a chunked body.
        public static func chunk(_ bytes: [UInt8]) -> Step {
            .send(Array((String(bytes.count, radix: 16) + "\r\n").utf8) + bytes + Array("\r\n".utf8))
        }

        /// Sends the end of a chunked body.
        public static var lastChunk: Step { .send("0\r\n\r\n") }
    }

    /// The head of a response.
    public static func head(_ status: Int = 200, headers: [(String, String)] = []) -> [UInt8] {
        let fields = headers.map { "\($0): \($1)\r\n" }.joined()
        return Array("HTTP/1.1 \(status) Scripted\r\n\(fields)\r\n".utf8)
    }

    private struct State {
        var requests: [Request] = []
        var connections: Set<Int32> = []
        var connectionCount = 0
        var isStopped = false
        var observers: [(count: Int, gate: AsyncGate)] = []
        var idleObservers: [AsyncGate] = []
    }

    /// The port on 127.0.0.1.
    public let port: Int
    private let listener: Int32
    private let script: @Sendable (Request) -> [Step]
    private let state = Lock(State())

    /// Starts to listen on a free port.
    public init(_ script: @escaping @Sendable (Request) -> [Step]) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard listener >= 0 else { throw SocketError(operation: "socket", code: errno) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 1024) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard status else {
            let code = errno
            Glibc.close(listener)
            throw SocketError(operation: "bind", code: code)
        }
        self.listener = listener
        self.script = script
        port = Int(UInt16(bigEndian: address.sin_port))
        ServerThread.start { [weak self] in
            // The listener is waited for without a reference, so that the server can go.
            while true {
                let socket = accept(listener, nil, nil)
                guard socket >= 0 else { break }
                if let server = self { server.take(socket) } else { Glibc.close(socket) }
            }
            Glibc.close(listener)
        }
    }

    deinit { stop() }

    /// Closes every connection and listens no more; steps that wait for a gate end when the gate opens.
    public func stop() {
        let connections = state.withLock { state -> Set<Int32>? in
            if state.isStopped { return nil }
            state.isStopped = true
            // Under the lock, as is closing: a number of a closed socket may name another by then.
            for connection in state.connections { shutdown(connection, Int32(SHUT_RDWR)) }
            return state.connections
        }
        if connections != nil { shutdown(listener, Int32(SHUT_RDWR)) }
    }

    // MARK: What came

    /// The URL of a path, on the server's address or another name of it.
    public func url(_ path: String, host: String = "127.0.0.1", scheme: String = "http") -> String {
        "\(scheme)://\(host):\(port)\(path)"
    }

    /// The requests so far, in the order in which they were read.
    public var requests: [Request] { state.withLock { $0.requests } }

    /// How many connections were accepted so far.
    public var connectionCount: Int { state.withLock { $0.connectionCount } }

    /// How many connections are open.
    public var openConnectionCount: Int { state.withLock { $0.connections.count } }

    /// Returns when so many requests have been read.
    public func requestCount(reaches count: Int) async {
        let gate = AsyncGate()
        let isReached = state.withLock { state in
            if state.requests.count < count { state.observers.append((count, gate)) }
            return state.requests.count >= count
        }
        if !isReached { await gate.wait() }
    }

    /// Returns when no connection is open: the client has closed them all.
    public func connectionsAreClosed() async {
        let gate = AsyncGate()
        let isIdle = state.withLock { state in
            if !state.connections.isEmpty { state.idleObservers.append(gate) }
            return state.connections.isEmpty
        }
        if !isIdle { await gate.wait() }
    }

    // MARK: Connections

    /// Serves a new connection on a thread of its own.
    private func take(_ socket: Int32) {
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        let number = state.withLock { state -> Int? in
            guard !state.isStopped else { return nil }
            state.connections.insert(socket)
            state.connectionCount += 1
            return state.connectionCount - 1
        }
        guard let number else {
            Glibc.close(socket)
            return
        }
        ServerThread.start { self.serve(socket, number: number) }
    }

    private func serve(_ socket: Int32, number: Int) {
        var one: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        var reader = RequestReader(socket: socket, connection: number)
        var isOpen = true
        while isOpen, let request = reader.next() {
            record(request)
            for step in script(request) where isOpen { isOpen = perform(step, on: socket) }
        }
        let observers = state.withLock { state in
            state.connections.remove(socket)
            Glibc.close(socket)
            guard state.connections.isEmpty else { return [AsyncGate]() }
            defer { state.idleObservers = [] }
            return state.idleObservers
        }
        for gate in observers { gate.open() }
    }

    private func record(_ request: Request) {
        let gates = state.withLock { state in
            state.requests.append(request)
            let count = state.requests.count
            let gates = state.observers.filter { $0.count <= count }.map(\.gate)
            state.observers.removeAll { $0.count <= count }
            return gates
        }
        for gate in gates { gate.open() }
    }

    /// Returns whether the connection goes on.
    private func perform(_ step: Step, on socket: Int32) -> Bool {
        switch step {
        case .send(let bytes): return send(bytes, on: socket)
        case .run(let body): body()
        case .close: return false
        case .reset:
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
            return false
        case .stall:
            var byte: UInt8 = 0
            while recv(socket, &byte, 1, 0) > 0 {}
            return false
        case .sendForever(let bytes):
            while send(bytes, on: socket) {}
            return false
        }
        return true
    }

    private func send(_ bytes: [UInt8], on socket: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Glibc.send(
                    socket, buffer.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }
}

/// Why a socket can't be used.
public struct SocketError: Error {
    /// The call that failed.
    public let operation: String
    /// Its errno.
    public let code: Int32
}
