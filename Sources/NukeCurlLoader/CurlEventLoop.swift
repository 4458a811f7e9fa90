internal import NukeCore

/// Drives the transfers of a loader, on the thread that is there for it.
///
/// Each turn takes the commands that came meanwhile, moves the transfers on, tells about heads and ends, and waits only
/// when none of that brought a new command.
final class CurlEventLoop {
    /// How many handles are kept for later loads.
    private static let idleLimit = 64
    /// Nothing is done when the time is over: whatever happens ends the wait.
    private static let longestWait: Int32 = 3_600_000

    private let engine: CurlEngine
    private let multi: CurlMulti
    private var active: [ObjectIdentifier: CurlExchange] = [:]
    private var idle: [CurlExchange] = []
    private var heads: [CurlExchange] = []

    /// Runs until the loader is released, or at once to the end if there is no libcurl.
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
        guard let multi = CurlMulti(connectionsPerHost: engine.configuration.maximumConnectionsPerHost) else {
            return nil
        }
        self.engine = engine
        self.multi = multi
    }

    private func run() {
        engine.setAlarm(multi.alarm)
        var commands: [CurlCommand] = []
        while engine.take(&commands) {
            for command in commands { handle(command) }
            multi.perform()
            announceHeads()
            while let (exchange, outcome) = multi.nextFinished() {
                leave(exchange)
                exchange.finish(outcome, in: multi)
                keep(exchange)
            }
            if engine.prepareToWait() { multi.wait(milliseconds: Self.longestWait) }
        }
        engine.setAlarm(nil)
        endAll(commands)
    }

    /// A head is there, perhaps with bytes behind it: `announceHeads` follows when those have been handed on.
    func headIsComplete(of exchange: CurlExchange) { heads.append(exchange) }

    private func announceHeads() {
        guard !heads.isEmpty else { return }
        for exchange in heads { exchange.announce() }
        heads.removeAll(keepingCapacity: true)
    }

    // MARK: Commands

    private func handle(_ command: CurlCommand) {
        switch command {
        case .start(let order): start(order)
        case .cancel(let transfer):
            guard let exchange = active.removeValue(forKey: ObjectIdentifier(transfer)) else { return }
            _ = exchange.stop(in: multi)
        case .resume(let transfer): active[ObjectIdentifier(transfer)]?.resume()
        case .reprioritize(let transfer): active[ObjectIdentifier(transfer)]?.reprioritize()
        }
    }

    private func start(_ order: CurlOrder) {
        if order.transfer.isCancelled { return }
        do throws(DataLoadingError) {
            let request = try PreparedRequest(order.request)
            let exchange = try makeExchange()
            try exchange.start(request, for: order, in: multi)
            active[ObjectIdentifier(order.transfer)] = exchange
        } catch {
            order.end(error)
        }
    }

    private func makeExchange() throws(DataLoadingError) -> CurlExchange {
        if let exchange = idle.popLast() { return exchange }
        return try CurlExchange(engine.configuration, loop: self)
    }

    private func leave(_ exchange: CurlExchange) {
        if let transfer = exchange.transfer { active[ObjectIdentifier(transfer)] = nil }
    }

    private func keep(_ exchange: CurlExchange) {
        if exchange.isReusable, idle.count < Self.idleLimit { idle.append(exchange) }
    }

    /// The loader is gone: what is under way, or has not begun, ends with an error.
    private func endAll(_ commands: [CurlCommand]) {
        let error = DataLoadingError(.cancelled, reason: "the loader was released")
        for exchange in active.values { exchange.stop(in: multi)?.end(error) }
        active = [:]
        for case .start(let order) in commands { order.end(error) }
    }
}
