import FoundationEssentials
import NukeCore
import Testing

@testable import NukeCurlLoader

@Suite("Origin line", .timeLimit(.minutes(1)))
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

    @Test("as many as there may be connections begin, in order; each that leaves lets another in")
    func limit() throws {
        var line = OriginLine(connectionLimit: 2, mayBeShared: false)
        for number in 0..<4 { line.add(try job("\(number)")) }
        #expect(name(line.next()) == "0" && name(line.next()) == "1" && name(line.next()) == nil)
        line.leave(hasFailed: false)
        #expect(name(line.next()) == "2" && name(line.next()) == nil)
        line.leave(hasFailed: true)
        #expect(name(line.next()) == "3" && line.activeCount == 2)
        line.leave(hasFailed: false)
        line.leave(hasFailed: false)
        #expect(line.isEmpty && name(line.next()) == nil)
    }

    @Test("the urgent come first, of equals the first (pitfall 74)")
    func priorities() throws {
        var line = OriginLine(connectionLimit: 100, mayBeShared: false)
        for (name, priority) in [("a", ImageRequest.Priority.low), ("b", .normal), ("c", .veryHigh), ("d", .normal)] {
            line.add(try job(name, priority))
        }
        var names: [String] = []
        while let next = name(line.next()) { names.append(next) }
        #expect(names == ["c", "b", "d", "a"])
    }

    @Test("who gets another priority changes the line; who leaves is passed over")
    func changes() throws {
        var line = OriginLine(connectionLimit: 100, mayBeShared: false)
        let jobs = try ["a", "b", "c", "d"].map { try job($0) }
        for job in jobs { line.add(job) }
        jobs[2].order.transfer.priority = .high
        line.reprioritize(jobs[2].order.transfer)
        line.reprioritize(jobs[2].order.transfer)
        jobs[0].order.transfer.priority = .low
        line.reprioritize(jobs[0].order.transfer)
        line.remove(jobs[1].order.transfer)
        line.remove(jobs[1].order.transfer)
        #expect([name(line.next()), name(line.next()), name(line.next())] == ["c", "d", "a"])
        #expect(name(line.next()) == nil && line.activeCount == 3)
    }

    @Test("what waits can be taken out at once")
    func removeAll() throws {
        var line = OriginLine(connectionLimit: 1, mayBeShared: false)
        for number in 0..<3 { line.add(try job("\(number)")) }
        _ = line.next()
        #expect(Set(line.removeAll().compactMap(name)) == ["1", "2"])
        line.leave(hasFailed: false)
        #expect(line.isEmpty && line.next() == nil)
    }

    @Test("where connections may be shared one goes ahead until one is up")
    func scout() throws {
        var line = OriginLine(connectionLimit: 2, mayBeShared: true)
        for number in 0..<200 { line.add(try job("\(number)")) }
        #expect(name(line.next()) == "0" && line.next() == nil)
        line.connectionIsUp()
        #expect(name(line.next()) == "1" && line.next() == nil)
        line.responseHasCome(isShared: true)
        var count = 2
        while line.next() != nil { count += 1 }
        #expect(count == 100)
    }

    @Test("an origin that does not share keeps to its connections, and is remembered for it")
    func exclusive() throws {
        var line = OriginLine(connectionLimit: 2, mayBeShared: true)
        for number in 0..<5 { line.add(try job("\(number)")) }
        _ = line.next()
        line.responseHasCome(isShared: false)
        #expect(line.next() != nil && line.next() == nil)
        for _ in 0..<5 {
            line.leave(hasFailed: false)
            _ = line.next()
        }
        #expect(line.isEmpty)
        line.add(try job("a"))
        line.add(try job("b"))
        #expect(line.next() != nil && line.next() != nil)
    }

    @Test("a failure of the first lets the others try; when all have left one goes ahead again")
    func failedScout() throws {
        var line = OriginLine(connectionLimit: 3, mayBeShared: true)
        for number in 0..<4 { line.add(try job("\(number)")) }
        _ = line.next()
        line.leave(hasFailed: true)
        #expect(line.next() != nil && line.next() != nil && line.next() != nil)
        for _ in 0..<3 { line.leave(hasFailed: true) }
        line.add(try job("a"))
        line.add(try job("b"))
        #expect(line.next() != nil && line.next() == nil)
    }

    @Test("a long queue is worked off in order, whatever joins meanwhile")
    func longQueue() throws {
        var line = OriginLine(connectionLimit: 1, mayBeShared: false)
        var (added, taken) = (0, 0)
        while taken < 2000 {
            for _ in 0..<3 where added < 2000 {
                line.add(try job("\(added)"))
                added += 1
            }
            #expect(name(line.next()) == "\(taken)")
            line.leave(hasFailed: false)
            taken += 1
        }
        #expect(line.isEmpty)
    }
}
