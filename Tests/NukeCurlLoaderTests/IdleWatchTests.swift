import Testing

@testable import NukeCurlLoader

@Suite("Idle watch", .timeLimit(.minutes(5)))
struct IdleWatchTests {
    @Test("the deadline moves with whatever happens")
    func progress() {
        var watch = IdleWatch(timeout: 1.5, now: 1000)
        #expect(watch.deadline == 2500)
        watch.progress(at: 2000)
        #expect(watch.deadline == 3500)
    }

    @Test("sending counts as long as it goes on")
    func sending() {
        var watch = IdleWatch(timeout: 1, now: 0)
        watch.sent(0, at: 500)
        #expect(watch.deadline == 1000)
        watch.sent(10, at: 600)
        #expect(watch.deadline == 1600)
        watch.sent(10, at: 700)
        #expect(watch.deadline == 1600)
    }

    @Test("parts of a millisecond count as one; without a limit there is no deadline")
    func limits() {
        #expect(IdleWatch(timeout: 0.0001, now: 5).deadline == 6)
        #expect(IdleWatch(timeout: .infinity, now: 5).deadline == nil)
        #expect(IdleWatch(timeout: 1e300, now: 5).deadline == nil)
    }
}
