import FoundationEssentials
import NukeCore
import Testing

@testable import NukeCurlLoader

@Suite("Origin line", .timeLimit(.minutes(5)))
struct OriginLineTests {
    private let engine = CurlEngine(CurlLoader.Configuration())

    init() {
        // So that no thread is started for the commands of transfers.
        engine.close()
    }

    private func job(_ name: String, _ priority: ImageRequest.Priority = .normal) throws -> CurlJob {
        let transfer = CurlTransfer(engine)
        let request = DataRequest(url: URL(string: "http://h/\(name)"))
        let order = CurlOrder(request, transfer: transfer, didReceiveData: { _, _ in }, completion: { _ in })
        let job = CurlJob(order: order, request: try PreparedRequest(request))
        transfer.priority = priority
        return job
    }

    private func name(_ job: CurlJob?) -> String? { job?.order.request.url.map { String($0.path.dropFirst()) } }

    /// Lets loads in one at a time, each when the one before has left.
    private func drain(_ line: inout OriginLine) -> [String] {
        var names: [String] = []
        while line.activeCount > 0 {
            line.leave(hasFailed: false)
            if let next = name(line.next()) { names.append(next) }
        }
        return names
    }

    @Test("as many as there may be connections begin, in order; each that leaves lets another in")
    func limit() throws {
        var line = OriginLine(connectionLimit: 2, mayBeShared: false)
        let entered = try (0..<4).map { line.enter(try job("\($0)")) }
        #expect(entered == [true, true, false, false])
        #expect(line.next() == nil && line.activeCount == 2)
        line.leave(hasFailed: false)
        #expect(name(line.next()) == "2" && line.next() == nil)
        line.leave(hasFailed: true)
        #expect(name(line.next()) == "3" && line.activeCount == 2)
        line.leave(hasFailed: false)
        #expect(line.next() == nil && !line.isEmpty)
        line.leave(hasFailed: false)
        #expect(line.isEmpty)
    }

    @Test("a limit of nothing is one of one", arguments: [0, -1, 1])
    func least(limit: Int) throws {
        var line = OriginLine(connectionLimit: limit, mayBeShared: false)
        let entered = try (0..<2).map { line.enter(try job("\($0)")) }
        #expect(entered == [true, false])
    }

    @Test("the urgent come first, of equals the first (pitfall 74)")
    func priorities() throws {
        var line = OriginLine(connectionLimit: 1, mayBeShared: false)
        for (name, priority) in [
            ("first", ImageRequest.Priority.veryLow), ("a", .low), ("b", .normal), ("c", .veryHigh), ("d", .normal),
        ] {
            _ = line.enter(try job(name, priority))
        }
        #expect(drain(&line) == ["c", "b", "d", "a"])
    }

    @Test("who gets another priority changes the line; who leaves is passed over")
    func changes() throws {
        var line = OriginLine(connectionLimit: 1, mayBeShared: false)
        let jobs = try ["first", "a", "b", "c", "d"].map { try job($0) }
        for job in jobs { _ = line.enter(job) }
        jobs[3].order.transfer.priority = .high
        line.reprioritize(jobs[3].order.transfer)
        line.reprioritize(jobs[3].order.transfer)
        jobs[1].order.transfer.priority = .low
        line.reprioritize(jobs[1].order.transfer)
        line.remove(jobs[2].order.transfer)
        line.remove(jobs[2].order.transfer)
        line.reprioritize(jobs[2].order.transfer)
        #expect(drain(&line) == ["c", "d", "a"])
    }

    @Test("what waits can be taken out at once")
    func removeAll() throws {
        var line = OriginLine(connectionLimit: 1, mayBeShared: false)
        for number in 0..<3 { _ = line.enter(try job("\(number)")) }
        #expect(Set(line.removeAll().compactMap(name)) == ["1", "2"])
        #expect(drain(&line).isEmpty && line.isEmpty)
    }

    @Test("where connections may be shared one goes ahead until one is up")
    func scout() throws {
        var line = OriginLine(connectionLimit: 2, mayBeShared: true)
        let entered = try (0..<200).map { line.enter(try job("\($0)")) }
        #expect(entered == [true] + [Bool](repeating: false, count: 199))
        #expect(line.next() == nil)
        line.connectionIsUp()
        #expect(name(line.next()) == "1" && line.next() == nil)
        line.responseHasCome(isShared: true)
        while line.next() != nil {}
        #expect(line.activeCount == 100)
    }

    @Test("an origin that does not share keeps to its connections, and is remembered for it")
    func exclusive() throws {
        var line = OriginLine(connectionLimit: 2, mayBeShared: true)
        for number in 0..<5 { _ = line.enter(try job("\(number)")) }
        line.responseHasCome(isShared: false)
        #expect(line.next() != nil && line.next() == nil)
        #expect(drain(&line) == ["2", "3", "4"] && line.isEmpty)
        let entered = try ["a", "b", "c"].map { line.enter(try job($0)) }
        #expect(entered == [true, true, false])
    }

    @Test("an origin that shared is not trusted to when all have left: the connection may be gone")
    func sharedNoMore() throws {
        var line = OriginLine(connectionLimit: 2, mayBeShared: true)
        for number in 0..<5 { _ = line.enter(try job("\(number)")) }
        line.responseHasCome(isShared: true)
        while line.next() != nil {}
        #expect(line.activeCount == 5)
        #expect(drain(&line).isEmpty)
        let entered = try ["a", "b"].map { line.enter(try job($0)) }
        #expect(entered == [true, false])
    }

    @Test("a failure of the first lets the others try; when all have left one goes ahead again")
    func failedScout() throws {
        var line = OriginLine(connectionLimit: 3, mayBeShared: true)
        for number in 0..<4 { _ = line.enter(try job("\(number)")) }
        line.leave(hasFailed: true)
        #expect(line.next() != nil && line.next() != nil && line.next() != nil)
        for _ in 0..<3 { line.leave(hasFailed: true) }
        let entered = try ["a", "b"].map { line.enter(try job($0)) }
        #expect(entered == [true, false])
    }

    @Test("a first load that is given up lets the next go ahead in its place")
    func cancelledScout() throws {
        var line = OriginLine(connectionLimit: 3, mayBeShared: true)
        for number in 0..<4 { _ = line.enter(try job("\(number)")) }
        line.leave(hasFailed: false)
        #expect(name(line.next()) == "1" && line.next() == nil)
    }

    @Test("a long queue is worked off in order, whatever joins meanwhile")
    func longQueue() throws {
        var line = OriginLine(connectionLimit: 1, mayBeShared: false)
        var names = ["0"]
        #expect(line.enter(try job("0")))
        var added = 1
        while line.activeCount > 0 {
            for _ in 0..<3 where added < 2000 {
                #expect(!line.enter(try job("\(added)")))
                added += 1
            }
            line.leave(hasFailed: false)
            if let next = name(line.next()) { names.append(next) }
        }
        #expect(names == (0..<2000).map { "\($0)" })
        #expect(line.isEmpty)
    }
}
