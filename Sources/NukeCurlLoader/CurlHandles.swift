internal import CNukeCurl
internal import NukeCore

// The only file that knows of the C module.

/// libcurl itself, opened the first time that anything here is asked for.
enum CurlLibrary {
    /// Such as "7.88.1"; nil where there is no library.
    static var version: String? {
        // SAFETY: the library's own text, which lives as long as the process.
        unsafe CNukeCurl_libraryVersion().map { unsafe String(cString: $0) }
    }

    /// The version of the headers that this was built with; nil where there were none.
    static var headerVersion: String? {
        // SAFETY: a literal, which lives as long as the process.
        unsafe CNukeCurl_headerVersion().map { unsafe String(cString: $0) }
    }

    /// Opens the library, or throws what is to be done about it.
    static func open() throws(DataLoadingError) {
        switch CNukeCurl_openLibrary() {
        case .ready: break
        case .notInstalled: throw .curlNotInstalled
        case .tooOld: throw .curlTooOld
        case .withoutHeaders: throw .curlHeadersMissing
        }
    }
}

/// Starts threads; the body runs on the new one.
enum CurlThread {
    /// Milliseconds on a clock that never goes back.
    static var now: Int64 { CNukeCurl_now() }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Returns false if the system has no thread to give.
    static func start(_ run: @escaping @Sendable () -> Void) -> Bool {
        // SAFETY: the box is retained once here and released once: by the thread, or below if there is none.
        let body = unsafe Unmanaged.passRetained(Body(run))
        let status = unsafe CNukeCurl_startThread(
            { unsafe Unmanaged<Body>.fromOpaque($0).takeRetainedValue().run() }, body.toOpaque())
        if status != 0 { unsafe body.release() }
        return status == 0
    }
}

/// Wakes the thread that waits in a `CurlMulti`.
// SAFETY: CurlEngine drops the alarm, under its lock, before the handle is destroyed, and rings under that lock.
@safe
struct CurlAlarm {
    fileprivate let multi: OpaquePointer

    func ring() {
        // SAFETY: the handle exists, as above.
        unsafe CNukeCurl_multiWakeUp(multi)
    }
}

// SAFETY: waking is the one call of libcurl that any thread may make.
extension CurlAlarm: @unchecked Sendable {}

/// Owns what drives all transfers of a thread.
// SAFETY: the handle is this value's alone, and is destroyed with it.
@safe
struct CurlMulti: ~Copyable {
    private let raw: OpaquePointer

    /// Nil without memory.
    ///
    /// `idleConnectionLimit` is how many connections may stay open for later.
    init?(idleConnectionLimit: Int) {
        guard let raw = unsafe CNukeCurl_multiCreate(idleConnectionLimit) else { return nil }
        unsafe self.raw = raw
    }

    deinit { unsafe CNukeCurl_multiDestroy(raw) }

    var alarm: CurlAlarm { unsafe CurlAlarm(multi: raw) }

    /// Moves all transfers on; what comes is handed to their exchanges within the call.
    func perform() { unsafe CNukeCurl_multiPerform(raw) }

    /// Returns when there is something to do or the alarm rings, at the latest after this time.
    func wait(milliseconds: Int32) { _ = unsafe CNukeCurl_multiPoll(raw, milliseconds) }

    /// Whether a socket has something to be read or written.
    var isReady: Bool { unsafe CNukeCurl_multiPoll(raw, 0) > 0 }

    /// The next transfer that has ended.
    func nextFinished() -> (CurlExchange, CurlOutcome)? {
        // SAFETY: the context is the exchange that started the transfer; the event loop keeps it until it is stopped.
        var outcome = CNukeCurl_Outcome.other
        guard let context = unsafe CNukeCurl_multiNextFinished(raw, &outcome) else { return nil }
        return (unsafe Unmanaged<CurlExchange>.fromOpaque(context).takeUnretainedValue(), CurlOutcome(outcome))
    }

    fileprivate func withHandle<Result>(_ body: (OpaquePointer) -> Result) -> Result { unsafe body(raw) }
}

/// Owns a transfer: under way, or in store for later. A setter returns false if libcurl refuses the value.
// SAFETY: the handle is this value's alone, and is destroyed with it; libcurl copies every text and body it is given.
@safe
struct CurlEasy: ~Copyable {
    private let raw: OpaquePointer

    /// Nil without memory, or where libcurl can't be held to http and https.
    init?() {
        // SAFETY: the context is the exchange that started the transfer, which the event loop keeps until it is stopped.
        let raw = unsafe CNukeCurl_easyCreate(
            { unsafe Unmanaged<CurlExchange>.fromOpaque($0).takeUnretainedValue().connectionIsUp() },
            { context, bytes, count in
                let line = unsafe Span(_unsafeStart: bytes, count: count)
                return unsafe Unmanaged<CurlExchange>.fromOpaque(context).takeUnretainedValue().receive(line: line).code
            },
            { context, bytes, count in
                let bytes = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(bytes), byteCount: count)
                return unsafe Unmanaged<CurlExchange>.fromOpaque(context).takeUnretainedValue().receive(bytes).code
            })
        guard let raw = unsafe raw else { return nil }
        unsafe self.raw = raw
    }

    deinit { unsafe CNukeCurl_easyDestroy(raw) }

    func setURL(_ url: String) -> Bool { set(.URL, url) }
    /// Overrides the method that the body and `setHead` give; nil does not.
    func setMethod(_ method: String?) -> Bool { set(.method, method) }
    func setUserAgent(_ name: String?) -> Bool { set(.userAgent, name) }
    func setProxy(_ url: String) -> Bool { set(.proxy, url) }
    func setCertificates(_ path: String) -> Bool { set(.certificates, path) }
    /// Makes it a HEAD.
    func setHead() -> Bool { set(.head, 1) }
    func setMaximumRedirectCount(_ count: Int) -> Bool { set(.maximumRedirects, count) }
    func setConnectTimeout(milliseconds: Int) -> Bool { set(.connectMilliseconds, milliseconds) }
    func setHTTP2Enabled(_ isEnabled: Bool) -> Bool { set(.HTTP2, isEnabled ? 1 : 0) }
    /// The share of an HTTP/2 stream in its connection, 1…256.
    func setWeight(_ weight: Int) -> Bool { set(.weight, weight) }

    private func set(_ setting: CNukeCurl_Text, _ value: String?) -> Bool {
        guard let value else { return unsafe CNukeCurl_easySetText(raw, setting, nil) != 0 }
        return unsafe value.withCString { unsafe CNukeCurl_easySetText(raw, setting, $0) != 0 }
    }

    private func set(_ setting: CNukeCurl_Number, _ value: Int) -> Bool {
        unsafe CNukeCurl_easySetNumber(raw, setting, value) != 0
    }

    /// Makes it a POST of these bytes.
    func setBody(_ body: RawSpan) -> Bool {
        unsafe body.withUnsafeBytes { unsafe CNukeCurl_easySetBody(raw, $0.baseAddress, $0.count) != 0 }
    }

    /// Adds a line, without its end, to the next request only.
    func addHeaderLine(_ line: String) -> Bool {
        unsafe line.withCString { unsafe CNukeCurl_easyAddHeader(raw, $0) != 0 }
    }

    /// Puts the transfer in; false without memory.
    ///
    /// `exchange` gets what comes, and has to live until `stop`.
    func start(in multi: borrowing CurlMulti, for exchange: CurlExchange) -> Bool {
        // SAFETY: not retained; the event loop keeps every exchange that it has started until it has stopped it.
        let context = unsafe Unmanaged.passUnretained(exchange).toOpaque()
        return unsafe multi.withHandle { unsafe CNukeCurl_easyStart(raw, $0, context) != 0 }
    }

    /// Takes the transfer out, at whatever point it is.
    func stop(in multi: borrowing CurlMulti) { unsafe multi.withHandle { unsafe CNukeCurl_easyStop(raw, $0) } }

    /// Goes on after the answer `pause`; what was kept back comes within the call.
    func resume() { unsafe CNukeCurl_easyResume(raw) }

    /// How many bytes of the request's body have been sent.
    var sentByteCount: Int64 { unsafe CNukeCurl_easySentByteCount(raw) }

    var redirectCount: Int { unsafe CNukeCurl_easyRedirectCount(raw) }

    /// Whether the answer came over a connection that can carry many transfers at a time.
    var isMultiplexed: Bool { unsafe CNukeCurl_easyIsMultiplexed(raw) != 0 }

    /// The URL that was asked last.
    var url: String? { unsafe CNukeCurl_easyURL(raw).map { unsafe String(cString: $0) } }

    /// What went wrong, in libcurl's words.
    var message: String { unsafe String(cString: CNukeCurl_easyMessage(raw)) }
}

/// What an exchange answers to what comes.
enum CurlAnswer {
    case goOn
    /// Of a body only: the same bytes are to come again after `resume`.
    case pause
    case abort

    fileprivate var code: CNukeCurl_Answer {
        switch self {
        case .goOn: .goOn
        case .pause: .pause
        case .abort: .abort
        }
    }
}

/// What became of a transfer.
enum CurlOutcome: CaseIterable {
    case succeeded, badURL, unsupportedProtocol, cannotResolveHost, cannotConnect, timedOut, secureConnectionFailed
    case tooManyRedirects, connectionLost, truncatedBody, badResponse, aborted, outOfMemory, other

    fileprivate init(_ outcome: CNukeCurl_Outcome) {
        self =
            switch outcome {
            case .succeeded: .succeeded
            case .badURL: .badURL
            case .unsupportedProtocol: .unsupportedProtocol
            case .cannotResolveHost: .cannotResolveHost
            case .cannotConnect: .cannotConnect
            case .timedOut: .timedOut
            case .secureConnectionFailed: .secureConnectionFailed
            case .tooManyRedirects: .tooManyRedirects
            case .connectionLost: .connectionLost
            case .truncatedBody: .truncatedBody
            case .badResponse: .badResponse
            case .aborted: .aborted
            case .outOfMemory: .outOfMemory
            case .other: .other
            }
    }
}
