import Testing

@testable import NukeCore

@Suite("The timeline of a player", .timeLimit(.minutes(5)))
struct PlaybackTimelineTests {
    private typealias Place = PlaybackTimeline.Place

    private func ms(_ count: Int) -> Duration { .milliseconds(count) }

    @Test("frames are due at the sums of the durations before them, divided by the rate", arguments: [0.5, 1, 4])
    func dueTimes(rate: Double) {
        let durations = [0.1, 0.02, 0.35, 0.04]
        var timeline = PlaybackTimeline(durations: durations, playCount: 2, rate: rate)
        var (now, sum) = (ms(7000), 0.0)
        for play in 0..<2 {
            for index in durations.indices {
                let due = ms(7000) + .nanoseconds(Int64((sum * 1e9 / rate).rounded()))
                if (play, index) != (0, 0) {
                    #expect(timeline.step(at: now) == .wait(until: due))
                    #expect(timeline.step(at: due - .nanoseconds(1)) == .wait(until: due))
                }
                now = due
                #expect(timeline.step(at: now) == .show(Place(play: play, index: index), due: due, dropped: 0))
                timeline.show(Place(play: play, index: index), at: now)
                sum += durations[index]
            }
        }
        let end = ms(7000) + .nanoseconds(Int64((sum * 1e9 / rate).rounded()))
        #expect(timeline.step(at: now) == .wait(until: end))
        #expect(timeline.step(at: end) == .end)
    }

    @Test("who comes late is told the frame that is due by then, and how many were passed over, across plays too")
    func late() {
        var timeline = PlaybackTimeline(durations: [0.1, 0.1, 0.1], playCount: nil, rate: 1)
        timeline.show(Place(play: 0, index: 0), at: .zero)
        #expect(timeline.step(at: ms(250)) == .show(Place(play: 0, index: 2), due: ms(200), dropped: 1))
        #expect(timeline.step(at: ms(100)) == .show(Place(play: 0, index: 1), due: ms(100), dropped: 0))
        #expect(
            timeline.step(at: ms(1_000_050)) == .show(Place(play: 3333, index: 1), due: ms(1_000_000), dropped: 9999))
    }

    @Test("who comes after the end is told the last frame, and only then the end")
    func lateForTheEnd() {
        var timeline = PlaybackTimeline(durations: [0.1, 0.1, 0.1], playCount: 2, rate: 1)
        timeline.show(Place(play: 0, index: 0), at: .zero)
        #expect(timeline.step(at: ms(9000)) == .show(Place(play: 1, index: 2), due: ms(500), dropped: 4))
        timeline.show(Place(play: 1, index: 2), at: ms(9000))
        #expect(timeline.step(at: ms(9000)) == .end)
    }

    @Test(
        "odd rates neither drift nor stand still at a time that was said to be due", arguments: [0.03, 0.7, 3, 7.3, 99])
    func oddRates(rate: Double) {
        var timeline = PlaybackTimeline(durations: [0.033_366_7, 0.041_7, 0.1], playCount: nil, rate: rate)
        timeline.show(Place(play: 0, index: 0), at: .zero)
        var (now, place) = (Duration.zero, Place(play: 0, index: 0))
        for _ in 0..<3000 {
            guard case .wait(let until?) = timeline.step(at: now) else {
                Issue.record("nothing to wait for")
                return
            }
            now = until
            place = timeline.place(after: place) ?? place
            guard case .show(place, due: now, dropped: 0) = timeline.step(at: now) else {
                Issue.record("not due when it was said to be: \(timeline.step(at: now))")
                return
            }
            timeline.show(place, at: now)
        }
        #expect(place == Place(play: 1000, index: 0))
        let expected = 1000 * (0.033_366_7 + 0.041_7 + 0.1) / rate
        #expect(abs(now.seconds - expected) < 1e-8)
    }

    @Test("durations without end, plays without number and years of playing stay within what can be counted")
    func extremes() {
        var timeline = PlaybackTimeline(
            durations: Array(repeating: .infinity, count: 20_000), playCount: .max, rate: 100)
        timeline.show(Place(play: 0, index: 0), at: .zero)
        for seconds in [1, 1_000_000, 1_000_000_000, Int64.max / 2] {
            let now = Duration.seconds(seconds)
            if case .show(let place, _, _) = timeline.step(at: now) { timeline.show(place, at: now) }
        }
        #expect((0..<20_000).contains(timeline.index))
        timeline.seek(toSeconds: .infinity)
        #expect(timeline.index == 19_999)
        timeline.seek(toSeconds: -.infinity)
        #expect(timeline.index == 0)
        timeline.seek(toSeconds: .nan)
        #expect(timeline.index == 0)
    }

    @Test("a year of playing is as exact as a second")
    func aYear() {
        var timeline = PlaybackTimeline(durations: [0.1, 0.1], playCount: nil, rate: 1)
        timeline.show(Place(play: 0, index: 0), at: .zero)
        let play = 5 * 3600 * 24 * 365
        for day in 1...365 {
            let (now, place) = (Duration.seconds(day * 86_400), Place(play: 5 * 86_400 * day, index: 0))
            #expect(timeline.step(at: now) == .show(place, due: now, dropped: 10 * 86_400 - 1))
            timeline.show(place, at: now)
        }
        let now = Duration.seconds(365 * 86_400)
        #expect(timeline.step(at: now) == .wait(until: now + ms(100)))
        #expect(timeline.step(at: now + ms(100)) == .show(Place(play: play, index: 1), due: now + ms(100), dropped: 0))
    }

    @Test("no frames end at once; a play count below one is one")
    func few() {
        #expect(PlaybackTimeline(durations: [], playCount: nil, rate: 1).step(at: .zero) == .end)
        var timeline = PlaybackTimeline(durations: [0.2], playCount: -3, rate: 1)
        timeline.show(Place(play: 0, index: 0), at: .zero)
        #expect(timeline.step(at: ms(199)) == .wait(until: ms(200)))
        #expect(timeline.step(at: ms(200)) == .end)
    }
}
