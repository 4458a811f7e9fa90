internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A libcurl handle, kept from load to load, and the load that it does now; belongs to the engine's thread.
final class CurlExchange {
    /// The numbers that a handle keeps; the defaults are libcurl's own.
    private struct Settings: Equatable {
        var maximumRedirectCount = 0
        var connectMilliseconds = 0
        var weight = 16
    }

    private let easy: CurlEasy
    private let configuration: CurlLoader.Configuration
    private unowned let loop: CurlEventLoop
    private var settings = Settings()
    private var order: CurlOrder?
    private var reader = ResponseReader(isHead: false, followsRedirects: false)
    private var response: DataResponse?
    /// Bytes that came in this turn of the loop and were not handed on yet.
    private var waiting = Data()
    private var refusal: String?

    /// From how many bytes on they are handed on before the turn is over.
    private static let waitingLimit: Int64 = 32 << 10

    /// Whether the handle can do another load: it has done plain ones only, and none failed.
    private(set) var isReusable = true

    /// Throws where libcurl can't make a handle, can't be held to http and https or refuses the configuration.
    init(_ configuration: CurlLoader.Configuration, loop: CurlEventLoop) throws(DataLoadingError) {
        guard let easy = CurlEasy() else { throw DataLoadingError(.other, reason: "libcurl can't make a transfer") }
        self.easy = easy
        self.configuration = configuration
        self.loop = loop
        try configure()
    }

    private func configure() throws(DataLoadingError) {
        try PreparedRequest.check(configuration.userAgent ?? "", of: "the loader's userAgent")
        // A libcurl without HTTP/2 refuses to offer it, and speaks HTTP/1.1.
        _ = easy.setHTTP2Enabled(configuration.isHTTP2Enabled)
        var isDone = easy.setUserAgent(configuration.userAgent)
        if let path = configuration.caCertificatePath { isDone = isDone && easy.setCertificates(path) }
        if let proxy = configuration.proxy { isDone = isDone && easy.setProxy(proxy) }
        if !isDone { throw DataLoadingError(.other, reason: "libcurl refuses the loader's configuration") }
    }

    /// The load under way.
    var transfer: CurlTransfer? { order?.transfer }

    /// Where the load under way is from.
    private(set) var origin: CurlEventLoop.Origin?
    private var isSecure = false
    private var watch = IdleWatch(timeout: .infinity, now: 0)

    // MARK: Start and stop

    /// Begins a load; throws if libcurl refuses the request, and then nothing has begun.
    func start(
        _ job: CurlJob, from origin: CurlEventLoop.Origin, in multi: borrowing CurlMulti
    ) throws(DataLoadingError) {
        let request = job.request
        isReusable = request.isPlain
        let settings = settings(for: request, job.order.transfer.priority)
        guard apply(request), apply(settings) else {
            throw DataLoadingError(.other, reason: "libcurl refuses the request")
        }
        reader = ResponseReader(isHead: request.isHead, followsRedirects: settings.maximumRedirectCount > 0)
        guard easy.start(in: multi, for: self) else {
            throw DataLoadingError(.other, reason: "libcurl has no memory for the request")
        }
        order = job.order
        self.origin = origin
        isSecure = request.isSecure
        watch = IdleWatch(timeout: request.timeout, now: loop.now)
    }

    /// Ends the load, at whatever point it is, and returns it.
    func stop(in multi: borrowing CurlMulti) -> CurlOrder? {
        guard let order else { return nil }
        easy.stop(in: multi)
        self.order = nil
        origin = nil
        response = nil
        waiting = Data()
        refusal = nil
        return order
    }

    /// The end of a load, with what came last, that is still to be told.
    struct End {
        fileprivate let order: CurlOrder
        fileprivate let response: DataResponse?
        fileprivate let data: Data
        fileprivate let error: DataLoadingError?

        /// Tells about it, unless the load was cancelled.
        func tell() {
            if let response, !order.transfer.isCancelled { order.didReceiveData(data, response) }
            order.end(error)
        }
    }

    /// Ends a load that libcurl is done with.
    func finish(_ outcome: CurlOutcome, in multi: borrowing CurlMulti) -> End? {
        if outcome == .succeeded { reader.end() } else { isReusable = false }
        var last = reader.announce(url: url)
        if last == nil, !waiting.isEmpty { last = response }
        let (data, error) = (waiting, error(for: outcome))
        return stop(in: multi).map { End(order: $0, response: last, data: data, error: error) }
    }

    /// Looks whether anything has happened lately; returns when to look again, nil for never.
    func nextLook() -> Int64? {
        // A load that is held back, or sends, makes progress that nobody hears of.
        if order?.transfer.isPaused == true { watch.progress(at: loop.now) }
        watch.sent(easy.sentByteCount, at: loop.now)
        return watch.deadline
    }

    /// The error of a load in which nothing has happened for too long.
    var idleError: DataLoadingError {
        .curl(.timedOut, message: "nothing came for \(watch.timeout) seconds", url: easy.url ?? "")
    }

    /// Goes on after a pause.
    func resume() { easy.resume() }

    /// Tells the server, where that is possible, how urgent the load is now.
    func reprioritize() {
        guard let order else { return }
        var new = settings
        new.weight = Self.weight(order.transfer.priority)
        _ = apply(new)
    }

    // MARK: What comes

    /// Hears that the request is about to be sent.
    func connectionIsUp() {
        watch.progress(at: loop.now)
        if isSecure, let origin { loop.connectionIsUp(to: origin) }
    }

    /// Takes a line of a head.
    func receive(line: Span<UInt8>) -> CurlAnswer {
        guard let order, !order.transfer.isCancelled else { return .abort }
        watch.progress(at: loop.now)
        return answer(to: reader.read(line: line)) {
            loop.hasNews(self)
            // After a redirect it may be another origin's.
            guard isSecure, let origin, easy.redirectCount == 0 else { return }
            loop.responseHasCome(from: origin, isShared: easy.isMultiplexed)
        }
    }

    /// Takes bytes of the body.
    func receive(_ bytes: RawSpan) -> CurlAnswer {
        guard let order, !order.transfer.isCancelled else { return .abort }
        watch.progress(at: loop.now)
        guard order.transfer.mayDeliver() else { return .pause }
        let answer = answer(to: reader.readBody()) { response = reader.announce(url: url) }
        guard answer == .goOn, let response else { return .abort }
        if waiting.isEmpty {
            loop.hasNews(self)
            waiting.reserveCapacity(max(bytes.byteCount, Int(min(response.expectedContentLength, Self.waitingLimit))))
        }
        // SAFETY: the bytes are copied within the call.
        unsafe bytes.withUnsafeBytes { unsafe waiting.append(contentsOf: $0) }
        if Int64(waiting.count) >= Self.waitingLimit { handOn(response) }
        return order.transfer.isCancelled ? .abort : .goOn
    }

    /// Hands on what came in this turn: a head that no byte has followed yet, or bytes.
    func deliver() {
        guard let order, !order.transfer.isCancelled else { return }
        if let response = reader.announce(url: url) {
            self.response = response
            order.didReceiveData(Data(), response)
        } else if let response, !waiting.isEmpty {
            handOn(response)
        }
    }

    private func handOn(_ response: DataResponse) {
        let data = waiting
        waiting = Data()
        order?.didReceiveData(data, response)
    }

    private func answer(to event: ResponseReader.Event, headComplete: () -> Void) -> CurlAnswer {
        switch event {
        case .more: return .goOn
        case .headComplete:
            headComplete()
            return .goOn
        case .failed(let reason):
            refusal = reason
            return .abort
        }
    }

    /// The URL that answers: the request's, unless there was a redirect.
    private var url: URL? {
        guard easy.redirectCount > 0, let text = easy.url else { return order?.request.url }
        return URL(string: text) ?? order?.request.url
    }

    private func error(for outcome: CurlOutcome) -> DataLoadingError? {
        if outcome == .succeeded { return nil }
        let url = easy.url ?? ""
        if let refusal { return .curl(.badResponse, message: refusal, url: url) }
        // libcurl calls it so when a single line of a head is too long for it.
        let outcome = outcome == .outOfMemory && reader.isInHead ? .badResponse : outcome
        return .curl(outcome, message: easy.message, url: url, isRedirected: easy.redirectCount > 0)
    }

    // MARK: Settings

    private func settings(for request: PreparedRequest, _ priority: ImageRequest.Priority) -> Settings {
        let connect = min(configuration.connectTimeout > 0 ? configuration.connectTimeout : .infinity, request.timeout)
        return Settings(
            maximumRedirectCount: request.mayBeRedirected ? max(0, min(configuration.maximumRedirectCount, 1000)) : 0,
            connectMilliseconds: connect < 1e6 ? Int((connect * 1000).rounded(.up)) : 0,
            weight: request.isSecure ? Self.weight(priority) : 16)
    }

    private func apply(_ new: Settings) -> Bool {
        if new == settings { return true }
        settings = new
        // Where there is no HTTP/2 there are no weights.
        _ = easy.setWeight(new.weight)
        return easy.setMaximumRedirectCount(new.maximumRedirectCount)
            && easy.setConnectTimeout(milliseconds: new.connectMilliseconds)
    }

    private func apply(_ request: PreparedRequest) -> Bool {
        guard easy.setURL(request.url) else { return false }
        for line in request.headerLines {
            guard easy.addHeaderLine(line) else { return false }
        }
        if request.isPlain { return true }
        if request.isHead { return easy.setHead() }
        if request.method == "POST" || request.body != nil {
            guard easy.setBody((request.body ?? Data()).bytes) else { return false }
        }
        return request.method == "POST" || easy.setMethod(request.method)
    }

    /// The weights of HTTP/2 go from 1 to 256; 16 is the default.
    private static func weight(_ priority: ImageRequest.Priority) -> Int {
        switch priority {
        case .veryLow: 1
        case .low: 4
        case .normal: 16
        case .high: 64
        case .veryHigh: 256
        }
    }
}

/// Watches over a load: how long nothing may happen in it, and when something last did.
///
/// Points in time are in milliseconds.
struct IdleWatch {
    /// In seconds; infinite for no limit.
    let timeout: Double
    private var last: Int64
    private var sentByteCount: Int64 = 0

    init(timeout: Double, now: Int64) {
        self.timeout = timeout
        last = now
    }

    /// Something has happened.
    mutating func progress(at now: Int64) { last = now }

    /// So much has been sent so far, which is progress if it is more than before.
    mutating func sent(_ byteCount: Int64, at now: Int64) {
        if byteCount != sentByteCount { last = now }
        sentByteCount = byteCount
    }

    /// When it will have been too long; nil for never.
    var deadline: Int64? {
        timeout < 1e9 ? last + Int64((timeout * 1000).rounded(.up)) : nil
    }
}
