/// What a frame pool holds, and who plays it: rules without threads, to be used under the pool's lock.
///
/// A frame that a player shows, and the one that it shows next, are held on to; any other stays while there is room, and of
/// those the one goes first that will be shown last.
struct FramePoolState: Sendable {
    /// One animation at one size, however many play it.
    struct Key: Hashable, Sendable {
        let animation: ObjectIdentifier
        let size: ImageSize?
    }

    /// What one player holds on to.
    fileprivate struct Pins: Sendable {
        var current: Int?
        var next: Int?
    }

    struct Sequence: Sendable {
        /// Kept so that no other animation gets its identity.
        fileprivate let original: ImageAnimation
        fileprivate let animation: ImageAnimation
        fileprivate var players: [Int: Pins] = [:]
        fileprivate(set) var frames: [Int: Bitmap] = [:]
        fileprivate(set) var decodedCount = 0
        fileprivate(set) var decodeSeconds = 0.0
        /// Bytes of the largest frame so far; nil before the first.
        fileprivate var frameByteCount: Int?
        /// Who waits for which frames.
        fileprivate var waiting: [Int: [Int: FrameContinuation]] = [:]
        /// Frames that are decoded ahead when nobody waits.
        fileprivate var ahead: [Int] = []
        /// Bytes taken for frames still to be decoded.
        fileprivate var reserved: [Int: Int] = [:]
        /// The frame that is being decoded.
        fileprivate var current: Int?
        fileprivate var isRunning = false
    }

    /// A frame to decode.
    struct Job: Sendable {
        let animation: ImageAnimation
        let index: Int
    }

    var byteLimit: Int
    /// Bytes held, and taken for frames that are being decoded.
    private(set) var byteCount = 0
    /// The most bytes there were at any time.
    private(set) var highestByteCount = 0
    private var numbers: [Key: Int] = [:]
    private var sequences: [Int: Sequence] = [:]
    private var lastNumber = 0

    init(byteLimit: Int) { self.byteLimit = byteLimit }

    var frameCount: Int { sequences.values.reduce(0) { $0 + $1.frames.count } }

    func sequence(_ number: Int) -> Sequence? { sequences[number] }

    // MARK: Players

    /// Adds a player; returns the number of its sequence and its own.
    mutating func join(_ animation: ImageAnimation, _ size: ImageSize?) -> (sequence: Int, player: Int) {
        let key = Key(animation: ObjectIdentifier(animation), size: size)
        lastNumber += 1
        let player = lastNumber
        let number = numbers[key] ?? player
        if numbers[key] == nil {
            numbers[key] = number
            sequences[number] = Sequence(
                original: animation, animation: size.map { animation.adding(.fit($0)) } ?? animation)
        }
        sequences[number]?.players[player] = Pins()
        return (number, player)
    }

    /// Removes a player, and with the last one the sequence, which is to be let go of outside the lock.
    mutating func leave(_ number: Int, _ player: Int, _ size: ImageSize?) -> Sequence? {
        guard let sequence = sequences[number] else { return nil }
        sequences[number]?.players[player] = nil
        guard sequence.players.count == 1, sequence.players[player] != nil else { return nil }
        numbers[Key(animation: ObjectIdentifier(sequence.original), size: size)] = nil
        sequences[number] = nil
        let frames = sequence.frames.values.reduce(0) { $0 + $1.byteCount }
        byteCount -= frames + sequence.reserved.values.reduce(0, +)
        return sequence
    }

    // MARK: Asking

    /// A frame that is there.
    func frame(_ index: Int, in number: Int) -> Bitmap? { sequences[number]?.frames[index] }

    /// Holds on to a frame that a player is about to show.
    mutating func want(_ index: Int, for player: Int, in number: Int) {
        sequences[number]?.players[player]?.next = index
    }

    /// Has somebody wait for a frame, and takes memory for it, if there is some.
    mutating func wait(for index: Int, in number: Int, as waiter: Int, _ continuation: FrameContinuation) -> Bool {
        guard sequences[number] != nil else { return false }
        sequences[number]?.waiting[index, default: [:]][waiter] = continuation
        reserve(index, in: number)
        return true
    }

    /// Who waited no longer does.
    mutating func stopWaiting(for index: Int, in number: Int, as waiter: Int) -> FrameContinuation? {
        let continuation = sequences[number]?.waiting[index]?.removeValue(forKey: waiter)
        if sequences[number]?.waiting[index]?.isEmpty == true {
            sequences[number]?.waiting[index] = nil
            if let sequence = sequences[number], sequence.current != index, !sequence.ahead.contains(index) {
                release(index, in: number)
            }
        }
        return continuation
    }

    /// Notes what a player shows; the frame that comes next is decoded ahead, if there is memory for it.
    mutating func show(_ index: Int, next: Int?, for player: Int, in number: Int) {
        sequences[number]?.players[player] = Pins(current: index, next: next)
        guard let next, let sequence = sequences[number] else { return }
        let isThere = sequence.frames[next] != nil || sequence.current == next || sequence.ahead.contains(next)
        if !isThere, reserve(next, in: number) { sequences[number]?.ahead.append(next) }
    }

    // MARK: Decoding

    /// Whether somebody has to begin to decode frames of a sequence.
    mutating func startRunning(_ number: Int) -> Bool {
        guard let sequence = sequences[number], !sequence.isRunning, sequence.isBusy else { return false }
        sequences[number]?.isRunning = true
        return true
    }

    /// The frame to decode next; nil: there is none, and nobody decodes any more.
    mutating func nextJob(_ number: Int) -> Job? {
        guard let animation = sequences[number]?.animation else { return nil }
        while let sequence = sequences[number] {
            let waited = sequence.waiting.keys.min()
            guard let index = waited ?? sequence.ahead.first else { break }
            sequences[number]?.ahead.removeAll { $0 == index }
            // What nobody waits for, and nobody will show next any more, would be for nothing.
            if waited == nil, sequence.frames[index] != nil || !sequence.isPinned(index) {
                release(index, in: number)
                continue
            }
            sequences[number]?.current = index
            return Job(animation: animation, index: index)
        }
        sequences[number]?.isRunning = false
        return nil
    }

    /// Keeps what was decoded, if there is room; returns who waited for it.
    mutating func finish(_ job: Job, in number: Int, _ image: Bitmap?, seconds: Double) -> [FrameContinuation] {
        guard sequences[number] != nil else { return [] }
        sequences[number]?.current = nil
        let waiting = sequences[number]?.waiting.removeValue(forKey: job.index)
        release(job.index, in: number)
        if let image {
            sequences[number]?.decodedCount += 1
            sequences[number]?.decodeSeconds += seconds
            let largest = max(sequences[number]?.frameByteCount ?? 0, image.byteCount)
            sequences[number]?.frameByteCount = largest
            if sequences[number]?.frames[job.index] == nil, makeRoom(image.byteCount) {
                sequences[number]?.frames[job.index] = image
                take(image.byteCount)
            }
        }
        return waiting.map { Array($0.values) } ?? []
    }

    // MARK: Memory

    /// Lets go of all frames but those that are shown, or will be next.
    mutating func shrink() {
        for (number, sequence) in sequences {
            for index in sequence.frames.keys where !sequence.isPinned(index) { drop(index, in: number) }
        }
    }

    /// Keeps to the limit; where that is not enough for what is shown, that is let go of too.
    mutating func trim() {
        if makeRoom(0) { return }
        for isCurrent in [false, true] {
            for (number, sequence) in sequences {
                for index in sequence.frames.keys where byteCount > byteLimit {
                    let isShown = sequence.players.values.contains { $0.current == index }
                    if isShown == isCurrent { drop(index, in: number) }
                }
            }
        }
    }

    /// Lets go of frames until there is room; false if there can't be.
    private mutating func makeRoom(_ count: Int) -> Bool {
        guard count <= byteLimit else { return false }
        while byteCount > byteLimit - count {
            var last: (number: Int, index: Int, distance: Int)?
            for (number, sequence) in sequences {
                for index in sequence.frames.keys where !sequence.isPinned(index) {
                    let distance = sequence.distance(to: index)
                    if distance > last?.distance ?? -1 { last = (number, index, distance) }
                }
            }
            guard let last else { return false }
            drop(last.index, in: last.number)
        }
        return true
    }

    /// Takes memory for a frame that is to be decoded; false if there is none, or nobody knows how much it takes.
    @discardableResult
    private mutating func reserve(_ index: Int, in number: Int) -> Bool {
        guard let sequence = sequences[number], sequence.frames[index] == nil else { return false }
        if sequence.reserved[index] != nil { return true }
        guard let count = sequence.frameByteCount, makeRoom(count) else { return false }
        sequences[number]?.reserved[index] = count
        take(count)
        return true
    }

    private mutating func release(_ index: Int, in number: Int) {
        byteCount -= sequences[number]?.reserved.removeValue(forKey: index) ?? 0
    }

    private mutating func drop(_ index: Int, in number: Int) {
        byteCount -= sequences[number]?.frames.removeValue(forKey: index)?.byteCount ?? 0
    }

    private mutating func take(_ count: Int) {
        byteCount += count
        highestByteCount = max(highestByteCount, byteCount)
    }
}

extension FramePoolState.Sequence {
    fileprivate var isBusy: Bool { !waiting.isEmpty || !ahead.isEmpty }

    fileprivate func isPinned(_ index: Int) -> Bool {
        players.values.contains { $0.current == index || $0.next == index }
    }

    /// How many frames from now a frame is shown, by the player that shows it first.
    fileprivate func distance(to index: Int) -> Int {
        let count = animation.frameCount
        let distances = players.values.compactMap { pins in
            pins.current.map { (index - $0 + count) % count }
        }
        return distances.min() ?? count
    }
}

/// Who waits for a frame.
typealias FrameContinuation = CheckedContinuation<Bitmap, any Error>
