/// Where an animation is as time passes, and which of its frames is to be shown next; knows no clock and decodes nothing.
///
/// Counts in whole nanoseconds from a moment, the anchor, at which the position was known, so that no error adds up.
struct PlaybackTimeline: Sendable {
    /// One showing of a frame.
    struct Place: Comparable, Sendable {
        /// How often all frames were shown before.
        var play: Int
        var index: Int

        static func < (a: Place, b: Place) -> Bool { (a.play, a.index) < (b.play, b.index) }
    }

    enum Step: Equatable, Sendable {
        /// The frame is due since a time; so many before it were not shown.
        case show(Place, due: Duration, dropped: Int)
        /// There is nothing to show until then; nil: until something is changed.
        case wait(until: Duration?)
        case end
    }

    /// Nanoseconds of a play before each frame, and before its end.
    private let starts: [Int]
    private(set) var playCount: Int?
    private(set) var rate: Double
    private(set) var isPaused = false
    /// The position at the anchor.
    private var position = Position(play: 0, offset: 0)
    /// When the position was that; nil while time stands still: paused, or before the frame at the position is shown.
    private var anchor: Duration?
    /// The frame that was shown last; nil if the one at the position is to be shown at once.
    private(set) var shown: Place?

    private struct Position {
        var play: Int
        /// Nanoseconds from the start of the play.
        var offset: Int
    }

    /// - Parameters:
    ///   - durations: Seconds of each frame.
    ///   - playCount: How often all are shown; nil: for ever.
    ///   - rate: How much faster than stored.
    init(durations: [Double], playCount: Int?, rate: Double) {
        // All together stay below 2⁶¹ ns, 73 years.
        let longest = min(65_536e9, 0x1p61 / Double(max(1, durations.count)))
        var starts = [0]
        for duration in durations {
            let nanoseconds = duration * 1e9
            starts.append(starts[starts.count - 1] + max(1, Int(min(nanoseconds, longest).rounded())))
        }
        self.starts = starts
        self.playCount = playCount.map { max(1, $0) }
        self.rate = rate
    }

    private var count: Int { starts.count - 1 }
    private var total: Int { starts[count] }

    // MARK: Steps

    /// What is to be done at a time.
    func step(at now: Duration) -> Step {
        guard count > 0 else { return .end }
        guard let shown else { return .show(place(of: position), due: now, dropped: 0) }
        guard anchor != nil else { return .wait(until: nil) }
        let next = place(after: shown)
        let due = time(of: next ?? Place(play: shown.play, index: count))
        if now < due { return .wait(until: due) }
        guard let next else { return .end }
        let current = max(next, place(of: position(at: now)))
        let dropped = (current.play - next.play) * count + current.index - next.index
        return .show(current, due: time(of: current), dropped: dropped)
    }

    /// Notes that a frame is shown; where time stood still for it, it passes from now on.
    mutating func show(_ place: Place, at now: Duration) {
        shown = place
        guard !isPaused else { return }
        if let anchor {
            // Far from the anchor a Double has no room for nanoseconds any more.
            if Double((now - anchor).nanoseconds) * rate > 0x1p50 { settle(at: now) }
        } else {
            anchor = now
        }
    }

    /// The frame after one; nil after the last.
    func place(after place: Place) -> Place? {
        if place.index + 1 < count { return Place(play: place.play, index: place.index + 1) }
        let play = place.play + 1
        return playCount.map { play >= $0 } == true ? nil : Place(play: play, index: 0)
    }

    // MARK: Control

    mutating func pause(at now: Duration) {
        guard !isPaused else { return }
        settle(at: now)
        isPaused = true
        anchor = nil
    }

    mutating func resume(at now: Duration) {
        guard isPaused else { return }
        isPaused = false
        if shown != nil { anchor = now }
    }

    mutating func setRate(_ rate: Double, at now: Duration) {
        settle(at: now)
        self.rate = rate
    }

    mutating func setPlayCount(_ playCount: Int?) { self.playCount = playCount.map { max(1, $0) } }

    /// Goes to a frame of the play that is under way.
    mutating func seek(toFrame index: Int) { seek(toOffset: starts[index]) }

    /// Goes to so many seconds from the start of the play that is under way.
    mutating func seek(toSeconds seconds: Double) {
        seek(toOffset: Int(max(0, min(seconds * 1e9, Double(total))).rounded()))
    }

    private mutating func seek(toOffset offset: Int) {
        position = Position(play: shown?.play ?? position.play, offset: min(offset, max(0, total - 1)))
        anchor = nil
        shown = nil
    }

    /// Goes back to the first frame of the first play.
    mutating func restart() {
        (position, anchor, shown) = (Position(play: 0, offset: 0), nil, nil)
    }

    /// Seconds from the start of the play.
    func seconds(at now: Duration) -> Double { Double(position(at: now).offset) / 1e9 }

    /// The frame to be seen: shown last, or else the one that will be first.
    var index: Int { shown?.index ?? (count > 0 ? place(of: position).index : 0) }

    // MARK: Arithmetic

    /// Moves the anchor to a time.
    private mutating func settle(at now: Duration) {
        guard anchor != nil else { return }
        position = position(at: now)
        anchor = now
    }

    /// Where the animation is at a time; at most at its end.
    private func position(at now: Duration) -> Position {
        guard let anchor, total > 0 else { return position }
        let elapsed = Int(max(0, min(Double((now - anchor).nanoseconds) * rate, 0x1p61)))
        let offset = position.offset + elapsed
        let here = Position(play: position.play + offset / total, offset: offset % total)
        guard let playCount, here.play >= playCount else { return here }
        return Position(play: playCount - 1, offset: total)
    }

    private func place(of position: Position) -> Place {
        var (low, high) = (0, count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if starts[middle] <= position.offset { low = middle } else { high = middle - 1 }
        }
        return Place(play: position.play, index: low)
    }

    /// When a frame begins; with an index of `count`, when the last one ends.
    private func time(of place: Place) -> Duration {
        let distance = (place.play - position.play) * total + starts[place.index] - position.offset
        return (anchor ?? .zero) + .nanoseconds(Int64((Double(distance) / rate).rounded(.up)))
    }
}

extension Duration {
    /// The duration in whole nanoseconds, rounded down; as many as there can be if there are more.
    fileprivate var nanoseconds: Int {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min / 2 : .max / 2 }
        let (sum, sumOverflow) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return sumOverflow ? .max / 2 : Int(sum)
    }
}
