internal import NukeCore

/// Drives the transfers of a loader, on the thread that is there for it.
///
/// Each turn takes the commands that came meanwhile, moves the transfers on, tells what came, and waits only when none of
/// that brought something to do. While there are bytes at hand it goes on reading for a moment before it tells, as each
/// telling may wake another thread.
final class CurlEventLoop {
    /// How many handles are kept for later loads.
    private static let idleLimit = 64
    /// How many origins are remembered while nothing is loaded from them.
    private static let originLimit = 256
    /// In milliseconds; nothing is done when the time is over.
    private static let longestWait: Int64 = 3_600_000

    private let engine: CurlEngine
    private let multi: CurlMulti
    private var origins: [String: Origin] = [:]
    private var active: [ObjectIdentifier: CurlExchange] = [:]
    private var idle: [CurlExchange] = []
    private var news: [CurlExchange] = []
    private var ends: [CurlExchange.End] = []
    /// When the oldest of these came, in milliseconds.
    private var oldestNews: Int64?
    /// Those from which another load may begin.
    private var openings: [Origin] = []
    /// When to look for loads in which nothing happens.
    private var nextLook = Int64.max

    /// When the turn began, in milliseconds.
    private(set) var now: Int64 = 0

    private var configuration: CurlLoader.Configuration { engine.configuration }

    /// The line of an origin, where its exchanges find it.
    final class Origin {
        fileprivate var line: OriginLine
        fileprivate init(_ line: OriginLine) { self.line = line }
    }

    /// Runs until the loader is released, or to the end at once if there is no libcurl.
    static func run(_ engine: CurlEngine) {
        do throws(DataLoadingError) {
            try CurlLibrary.open()
            guard let loop = CurlEventLoop(engine) else {
                throw DataLoadingError(.other, reason: "libcurl has no memory")
            }
            loop.run()
        } catch {
            engine.fail(error)
        }
    }

    private init?(_ engine: CurlEngine) {
        // libcurl's own rule would close connections as soon as few loads are left.
        let idleConnectionLimit = max(16, min(engine.configuration.maximumConnectionsPerHost, 250) * 4)
        guard let multi = CurlMulti(idleConnectionLimit: idleConnectionLimit) else { return nil }
        self.engine = engine
        self.multi = multi
    }

    private func run() {
        engine.setAlarm(multi.alarm)
        var commands: [CurlCommand] = []
        while engine.take(&commands) {
            now = CurlThread.now
            for command in commands { handle(command) }
            beginWaiting()
            multi.perform()
            finishEnded()
            if now >= nextLook { endIdle() }
            if mayTellLater { continue }
            tell()
            if openings.isEmpty, engine.prepareToWait() {
                multi.wait(milliseconds: Int32(min(max(nextLook - now, 0), Self.longestWait)))
            }
        }
        engine.setAlarm(nil)
        tell()
        endAll(commands)
    }

    // MARK: Commands

    private func handle(_ command: CurlCommand) {
        switch command {
        case .start(let order): queue(order)
        case .cancel(let transfer): cancel(transfer)
        case .resume(let transfer): active[ObjectIdentifier(transfer)]?.resume()
        case .reprioritize(let transfer):
            active[ObjectIdentifier(transfer)]?.reprioritize()
            for origin in origins.values { origin.line.reprioritize(transfer) }
        }
    }

    private func queue(_ order: CurlOrder) {
        if order.transfer.isCancelled { return }
        do throws(DataLoadingError) {
            let job = CurlJob(order: order, request: try PreparedRequest(order.request))
            let origin = origin(of: job.request)
            if origin.line.enter(job) { begin(job, origin) }
        } catch {
            order.end(error)
        }
    }

    private func cancel(_ transfer: CurlTransfer) {
        guard let exchange = active.removeValue(forKey: ObjectIdentifier(transfer)) else {
            for origin in origins.values { origin.line.remove(transfer) }
            return
        }
        leave(exchange, hasFailed: false)
        _ = exchange.stop(in: multi)
    }

    // MARK: Lines

    private func origin(of request: PreparedRequest) -> Origin {
        if let origin = origins[request.origin] { return origin }
        if origins.count >= Self.originLimit { origins = origins.filter { !$0.value.line.isEmpty } }
        let origin = Origin(
            OriginLine(
                connectionLimit: configuration.maximumConnectionsPerHost,
                mayBeShared: request.isSecure && configuration.isHTTP2Enabled))
        origins[request.origin] = origin
        return origin
    }

    private func leave(_ exchange: CurlExchange, hasFailed: Bool) {
        guard let origin = exchange.origin else { return }
        origin.line.leave(hasFailed: hasFailed)
        openings.append(origin)
    }

    /// A connection to an origin is up, and more of its loads may begin; within `perform`.
    func connectionIsUp(to origin: Origin) {
        origin.line.connectionIsUp()
        openings.append(origin)
    }

    /// An origin has answered, over a connection that can be shared or not; within `perform`.
    func responseHasCome(from origin: Origin, isShared: Bool) {
        origin.line.responseHasCome(isShared: isShared)
        openings.append(origin)
    }

    /// Begins what may begin.
    private func beginWaiting() {
        while let origin = openings.popLast() {
            while let job = origin.line.next() { begin(job, origin) }
        }
    }

    private func begin(_ job: CurlJob, _ origin: Origin) {
        do throws(DataLoadingError) {
            let exchange = try makeExchange()
            try exchange.start(job, from: origin, in: multi)
            active[ObjectIdentifier(job.order.transfer)] = exchange
            nextLook = min(nextLook, exchange.nextLook() ?? .max)
        } catch {
            origin.line.leave(hasFailed: true)
            openings.append(origin)
            job.order.end(error)
        }
    }

    private func makeExchange() throws(DataLoadingError) -> CurlExchange {
        if let exchange = idle.popLast() { return exchange }
        return try CurlExchange(configuration, loop: self)
    }

    // MARK: News and ends

    /// A head is there, or bytes are: `tell` follows when libcurl has done what it can for now.
    func hasNews(_ exchange: CurlExchange) { news.append(exchange) }

    /// Whether what came can wait for what is about to come: until a millisecond is over.
    private var mayTellLater: Bool {
        guard !news.isEmpty || !ends.isEmpty else { return false }
        let oldest = oldestNews ?? now
        oldestNews = oldest
        return now == oldest && (!openings.isEmpty || multi.isReady)
    }

    private func tell() {
        oldestNews = nil
        for end in ends { end.tell() }
        ends.removeAll(keepingCapacity: true)
        for exchange in news { exchange.deliver() }
        news.removeAll(keepingCapacity: true)
    }

    private func finishEnded() {
        while let (exchange, outcome) = multi.nextFinished() {
            if let transfer = exchange.transfer { active[ObjectIdentifier(transfer)] = nil }
            leave(exchange, hasFailed: outcome != .succeeded)
            if let end = exchange.finish(outcome, in: multi) { ends.append(end) }
            if exchange.isReusable, idle.count < Self.idleLimit { idle.append(exchange) }
        }
    }

    /// Ends the loads in which nothing has happened for too long.
    ///
    /// libcurl's own limit has whole seconds, looks at a mean of the last five and wakes the thread each second.
    private func endIdle() {
        nextLook = .max
        for (id, exchange) in active {
            guard let look = exchange.nextLook() else { continue }
            if look > now {
                nextLook = min(nextLook, look)
            } else {
                active[id] = nil
                let error = exchange.idleError
                leave(exchange, hasFailed: true)
                exchange.stop(in: multi)?.end(error)
            }
        }
    }

    /// The loader is gone: what is under way, or has not begun, ends with an error.
    private func endAll(_ commands: [CurlCommand]) {
        let error = DataLoadingError(.cancelled, reason: "the loader was released")
        var orders = active.values.compactMap { $0.stop(in: multi) }
        active = [:]
        for origin in origins.values { orders += origin.line.removeAll().map(\.order) }
        for case .start(let order) in commands { orders.append(order) }
        for order in orders { order.end(error) }
    }
}
