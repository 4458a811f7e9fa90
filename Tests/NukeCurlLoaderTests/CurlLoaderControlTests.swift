import FoundationEssentials
import NukeCore
import NukeCurlLoader
import NukeTestSupport
import Testing

@Suite("CurlLoader: control", .timeLimit(.minutes(5)))
struct CurlLoaderControlTests {
    private static let endless = [
        ScriptedServer.Step.send(ScriptedServer.head(headers: [("Content-Length", "1000000000")])), .send("begun"),
        .stall,
    ]

    @Test("cancelling closes the connections at once, and says nothing [DAT-01]")
    func cancelMany() async throws {
        let server = try ScriptedServer { request in
            request.target == "/after" ? [.response(body: [1])] : Self.endless
        }
        let loader = CurlLoader.direct { $0.maximumConnectionsPerHost = 60 }
        let loads = (0..<100).map { _ in PendingLoad() }
        let transfers = loads.map { $0.start(loader, server.url("/")) }
        // 60 are under way, and 40 wait.
        await server.requestCount(reaches: 60)
        for load in loads.prefix(60) { await load.received(5) }
        // The last first, so that no place gets free for one that waits.
        for transfer in transfers.reversed() { transfer.cancel() }
        await server.connectionsAreClosed()
        #expect(await Load.run(loader, server.url("/after")).error == nil)
        #expect(loads.allSatisfy { !$0.isOver })
        #expect(server.requests.count == 61)
    }

    @Test("cancelling on the way frees the place for what waits (pitfall 32)")
    func cancelFreesPlace() async throws {
        let server = try ScriptedServer { request in
            request.target == "/after" ? [.response(body: [1])] : Self.endless
        }
        let loader = CurlLoader.direct { $0.maximumConnectionsPerHost = 1 }
        let (first, second, third) = (PendingLoad(), PendingLoad(), PendingLoad())
        let transfer = first.start(loader, server.url("/"))
        let waiting = second.start(loader, server.url("/"))
        third.start(loader, server.url("/after"))
        await first.received(5)
        waiting.cancel()
        transfer.cancel()
        #expect(await third.end().error == nil)
        #expect(!first.isOver && !second.isOver)
        #expect(server.requests.count == 2)
    }

    @Test("cancelling from many threads while loads begin and end leaves the loader sound (pitfalls 64, 65)")
    func cancelAtRandom() async throws {
        let server = try ScriptedServer { _ in [.response(body: [UInt8](repeating: 1, count: 5000))] }
        let loader = CurlLoader.direct()
        await withTaskGroup { group in
            for seed in 0..<8 {
                group.addTask {
                    for number in 0..<40 {
                        let load = PendingLoad()
                        let transfer = load.start(loader, server.url("/\(seed)-\(number)"))
                        if (seed + number).isMultiple(of: 3) { (transfer as? any DataTransfer)?.pause() }
                        if number.isMultiple(of: 2) {
                            transfer.cancel()
                        } else {
                            (transfer as? any DataTransfer)?.resume()
                            let end = await load.end()
                            #expect(end.error == nil && end.body.count == 5000)
                        }
                        transfer.cancel()
                    }
                }
            }
        }
        #expect(await Load.run(loader, server.url("/")).body.count == 5000)
    }

    @Test("a load that was cancelled before its turn sends nothing")
    func cancelAtOnce() async throws {
        let server = try ScriptedServer { _ in [.response(body: [1])] }
        let loader = CurlLoader.direct()
        let gate = ThreadGate()
        let (first, second) = (PendingLoad(), PendingLoad())
        // The loader's thread is held in a callback, so the second load cannot begin before it is cancelled.
        first.start(
            loader, .patient(server.url("/first")),
            onCall: { _ in
                second.start(loader, server.url("/second")).cancel()
                gate.open()
            })
        #expect(await first.end().error == nil)
        #expect(await Load.run(loader, server.url("/third")).error == nil)
        #expect(server.requests.map(\.target) == ["/first", "/third"])
        #expect(!second.isOver)
    }

    @Test("a paused load holds back the server, and brings the rest when it goes on")
    func pauseHoldsBack() async throws {
        let total = 64 << 20
        let sent = Lock(0)
        let block = [UInt8](repeating: 7, count: 1 << 20)
        let server = try ScriptedServer { request in
            guard request.target == "/" else { return [.response()] }
            let head = ScriptedServer.head(headers: [("Content-Length", "\(total)")])
            let blocks = (0..<64).flatMap { _ in [ScriptedServer.Step.send(block), .run { sent.withLock { $0 += 1 } }] }
            return [.send(head)] + blocks
        }
        let loader = CurlLoader.direct()
        let load = PendingLoad()
        let transfer = try #require(load.start(loader, server.url("/")) as? any DataTransfer)
        transfer.pause()
        await load.received(0)
        // Loads beside it go through, and what came of it so far stays what it is.
        let before = load.load.body.count
        for _ in 0..<20 { #expect(await Load.run(loader, server.url("/other")).error == nil) }
        #expect(load.load.body.count == before && !load.isOver)
        #expect(sent.withLock { $0 } < 64, "the whole body was taken off the server, though nobody wanted it yet")
        transfer.resume()
        let end = await load.end()
        #expect(end.error == nil && end.body.count == total)
    }

    @Test("pausing and going on in every callback loses nothing")
    func pauseOften() async throws {
        let body = (0..<500_000).map { UInt8(truncatingIfNeeded: $0 / 251) }
        let server = try ScriptedServer { _ in [.response(body: body)] }
        let loader = CurlLoader.direct()
        let load = PendingLoad()
        let handle = Lock<(any DataTransfer)?>(nil)
        let attached = ThreadGate()
        let transfer = load.start(
            loader, .patient(server.url("/")),
            onCall: { _ in
                attached.wait()
                let transfer = handle.withLock { $0 }
                transfer?.pause()
                // Another thread wakes it up again.
                Task { transfer?.resume() }
            })
        handle.withLock { $0 = transfer as? any DataTransfer }
        attached.open()
        let end = await load.end()
        #expect(end.error == nil && end.body == Data(body))
    }

    @Test("a paused load may be silent for as long as it likes")
    func pausedForLong() async throws {
        let gate = ThreadGate()
        let server = try ScriptedServer { request in
            request.target == "/" ? [.wait(gate), .response(body: [1, 2, 3])] : [.stall]
        }
        let loader = CurlLoader.direct()
        let load = PendingLoad()
        var request = DataRequest(url: URL(string: server.url("/")))
        request.timeout = 0.2
        let transfer = try #require(load.start(loader, request) as? any DataTransfer)
        transfer.pause()
        gate.open()
        // A load that nobody pauses, and that began later, runs out of time.
        request.url = URL(string: server.url("/stall"))
        request.timeout = 0.8
        #expect(await Load.run(loader, request).error?.code == .timedOut)
        #expect(!load.isOver)
        transfer.resume()
        let end = await load.end()
        #expect(end.error == nil && end.body == Data([1, 2, 3]))
    }

    @Test("the priority is kept, and decides who waits least (pitfall 74)")
    func priorities() async throws {
        let gate = ThreadGate()
        let server = try ScriptedServer { request in
            request.target == "/first" ? [.wait(gate), .response()] : [.response()]
        }
        let loader = CurlLoader.direct { $0.maximumConnectionsPerHost = 1 }
        let first = PendingLoad()
        first.start(loader, server.url("/first"))
        await server.requestCount(reaches: 1)
        let priorities: [ImageRequest.Priority] = [.low, .veryLow, .normal, .veryHigh, .high]
        let loads = priorities.map { priority in
            let load = PendingLoad()
            let transfer = load.start(loader, server.url("/\(priority)")) as? any DataTransfer
            transfer?.priority = priority
            #expect(transfer?.priority == priority)
            return load
        }
        gate.open()
        for load in loads { #expect(await load.end().error == nil) }
        #expect(server.requests.map(\.target) == ["/first", "/veryHigh", "/high", "/normal", "/low", "/veryLow"])
    }

    @Test("a released loader ends what is under way, and what waits, as cancelled [DAT-21]")
    func release() async throws {
        let server = try ScriptedServer { _ in Self.endless }
        var loader: CurlLoader? = CurlLoader.direct()
        weak let released = loader
        let loads = (0..<20).map { _ in PendingLoad() }
        let transfers = loads.compactMap { load in loader.map { load.start($0, server.url("/")) } }
        await server.requestCount(reaches: 6)
        loader = nil
        #expect(released == nil)
        for load in loads { #expect(await load.end().error?.code == .cancelled) }
        await server.connectionsAreClosed()
        // The handles do nothing any more.
        for transfer in transfers {
            (transfer as? any DataTransfer)?.pause()
            (transfer as? any DataTransfer)?.resume()
            (transfer as? any DataTransfer)?.priority = .high
            transfer.cancel()
        }
    }

    @Test("a loader may be released by its own callback")
    func releaseInCallback() async throws {
        let server = try ScriptedServer { _ in [.response(body: [1])] }
        let holder = Lock<CurlLoader?>(CurlLoader.direct())
        let load = PendingLoad()
        if let loader = holder.withLock({ $0 }) {
            load.start(
                loader, .patient(server.url("/")), onCall: { _ in holder.withLock { $0 = nil } })
        }
        _ = await load.end()
        await server.connectionsAreClosed()
    }

    @Test("a loader that never loaded can go")
    func unused() {
        var loader: CurlLoader? = CurlLoader()
        weak let released = loader
        loader = nil
        #expect(released == nil)
    }

    @Test("loads that wait for a place are never forgotten", arguments: [1, 2, 6])
    func nothingIsForgotten(connections: Int) async throws {
        // libcurl's own queue lost some within the first rounds.
        let server = try ScriptedServer { _ in [.response(body: [UInt8](repeating: 1, count: 20_000))] }
        let loader = CurlLoader.direct { $0.maximumConnectionsPerHost = connections }
        for _ in 0..<4 {
            let loads = (0..<100).map { _ in PendingLoad() }
            for load in loads { load.start(loader, server.url("/")) }
            for load in loads { #expect(await load.end().error == nil) }
        }
        #expect(server.connectionCount == connections)
        #expect(server.requests.count == 400)
    }
}
