extension AnimatedImagePlayer {
    /// What one iteration needs from its first frame to its last; whoever leaves the loop lets go of it.
    final class Iteration: Sendable {
        private let player: AnimatedImagePlayer
        private let number: Int
        private let member: Lock<AnimatedImageFramePool.Member?>
        private let failuresInARow = Lock(0)

        init(_ player: AnimatedImagePlayer) {
            self.player = player
            let member = player.pool.join(player.animation, player.decodeSize)
            number = player.start(member)
            self.member = Lock(member)
        }

        func next() async throws -> Frame? {
            while let member = member.withLock({ $0 }) {
                let changeCount = player.changes.count
                guard !Task.isCancelled, let (step, seekNumber) = player.step(number) else { break }
                switch step {
                case .end:
                    player.end(number)
                    leave()
                case .wait(let until): await player.wait(until: until, after: changeCount)
                case .show(let place, let due, let dropped):
                    do {
                        let image = try await member.frame(at: place.index)
                        let shown = player.show(place, due, dropped, seekNumber, number)
                        guard let shown else { continue }
                        failuresInARow.withLock { $0 = 0 }
                        member.show(place.index, next: shown.next)
                        return Frame(
                            index: place.index, playIndex: place.play, image: image, presentationTime: shown.due)
                    } catch {
                        if Task.isCancelled { break }
                        try note(error, place, dropped, seekNumber)
                    }
                }
            }
            leave()
            return nil
        }

        private func leave() {
            let member = member.withLock { member in member.take() }
            withExtendedLifetime(member) {}
        }

        /// A frame that can't be had is passed over; an error of as many in a row as there are is thrown.
        private func note(
            _ error: any Error, _ place: PlaybackTimeline.Place, _ dropped: Int, _ seekNumber: Int
        ) throws {
            player.fail(place, dropped, seekNumber, number)
            let count = failuresInARow.withLock { count in
                count += 1
                return count
            }
            guard count < player.animation.frameCount else {
                leave()
                throw error
            }
        }
    }

    fileprivate func start(_ member: AnimatedImageFramePool.Member) -> Int {
        let number = state.withLock { state in
            if state.hasEnded {
                state.timeline.restart()
                state.hasEnded = false
            }
            state.iterationNumber += 1
            state.member = member
            return state.iterationNumber
        }
        changes.send()
        return number
    }

    /// What an iteration has to do now; nil if another one has begun.
    fileprivate func step(_ iteration: Int) -> (PlaybackTimeline.Step, seekNumber: Int)? {
        state.withLock { state in
            guard state.iterationNumber == iteration else { return nil }
            return (state.timeline.step(at: time.now()), state.seekNumber)
        }
    }

    /// Notes that a frame is handed out; nil if another one is wanted by now.
    fileprivate func show(
        _ place: PlaybackTimeline.Place, _ due: Duration, _ dropped: Int, _ seekNumber: Int, _ iteration: Int
    ) -> (due: Duration, next: Int?)? {
        state.withLock { state in
            guard state.seekNumber == seekNumber, state.iterationNumber == iteration else { return nil }
            let now = time.now()
            let isFirst = state.timeline.shown == nil
            state.timeline.show(place, at: now)
            state.statistics.shownFrameCount += 1
            state.statistics.droppedFrameCount += dropped
            return (isFirst ? now : due, state.timeline.place(after: place)?.index)
        }
    }

    fileprivate func fail(_ place: PlaybackTimeline.Place, _ dropped: Int, _ seekNumber: Int, _ iteration: Int) {
        state.withLock { state in
            guard state.seekNumber == seekNumber, state.iterationNumber == iteration else { return }
            state.timeline.show(place, at: time.now())
            state.statistics.failedFrameCount += 1
            state.statistics.droppedFrameCount += dropped
        }
    }

    fileprivate func end(_ iteration: Int) {
        state.withLock { state in
            if state.iterationNumber == iteration { state.hasEnded = true }
        }
    }

    /// Waits for a time, or a change that comes before it.
    fileprivate func wait(until due: Duration?, after changeCount: Int) async {
        guard let due else { return await changes.wait(after: changeCount) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [time] in try? await time.sleep(due - time.now()) }
            group.addTask { [changes] in await changes.wait(after: changeCount) }
            await group.next()
            group.cancelAll()
        }
    }
}
