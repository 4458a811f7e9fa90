internal import Dispatch
internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// How changes get from memory to disk: one at a time, on a thread of the cache's own.
extension DataCache {
    /// A thread that waits for changes to be written.
    struct Waiter: Sendable {
        enum Condition {
            case all(through: UInt64)
            case one(EntryName, through: UInt64)
            case room(Int)
        }

        let condition: Condition
        let semaphore = DispatchSemaphore(value: 0)
    }

    /// Returns when everything that was stored or removed before is on disk, or has failed to get there.
    public func flush() {
        wait { state in
            state.writesThrough = state.changes.latest
            return .all(through: state.changes.latest)
        }
    }

    /// Returns when what was stored or removed under a key is on disk; it goes before the other changes.
    public func flush(for key: String) {
        guard !key.isEmpty else { return }
        let name = EntryName(key: Array(key.utf8))
        wait { state in
            state.changes.prefer(name)
            return .one(name, through: state.changes.latest)
        }
    }

    func stage(_ change: StagedChanges.Change, for key: String) {
        guard !key.isEmpty else { return }
        let bytes = Array(key.utf8)
        let name = EntryName(key: bytes)
        let limit = settings.stagingLimit
        let isFull = self.change { state in
            state.changes.stage(change, key: bytes, name: name)
            return state.changes.byteCount > (state.isSomebodyWaitingForRoom ? limit / 2 : limit)
        }
        guard isFull else { return }
        // The caller lends no hand but waits, so that nobody stores faster than the disk writes.
        wait { state in
            state.writesThrough = state.changes.latest
            return .room(limit / 2)
        }
    }

    /// Makes a change and sees to it that it gets written.
    func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, starts) = state.withLock { state in
            let result = body(&state)
            let starts = settings.isWritingAutomatic && state.startsWriting()
            return (result, starts)
        }
        if starts { threads.enqueue { self.writeChanges() } }
        return result
    }

    private func wait(_ body: (inout State) -> Waiter.Condition) {
        let (waiter, starts) = state.withLock { state -> (Waiter?, Bool) in
            let waiter = Waiter(condition: body(&state))
            if state.isMet(waiter.condition) { return (nil, false) }
            state.waiters.append(waiter)
            return (waiter, state.startsWriting())
        }
        if starts { threads.enqueue { self.writeChanges() } }
        waiter?.semaphore.wait()
    }

    private func writeChanges() {
        FileSystem.withoutFileSizeSignal {
            while let step = nextStep() {
                perform(step)
                let met = state.withLock { state in
                    state.changes.finish()
                    return state.takeMetWaiters()
                }
                for waiter in met { waiter.semaphore.signal() }
            }
        }
    }

    private func nextStep() -> StagedChanges.Step? {
        let isAutomatic = settings.isWritingAutomatic
        return state.withLock { state in
            let step = state.changes.next(upTo: isAutomatic ? .max : state.writesThrough)
            if step == nil { state.isWriting = false }
            return step
        }
    }

    private func perform(_ step: StagedChanges.Step) {
        switch step {
        case .removeAll:
            if let failure = files.removeAll() { note(failure) }
        case .apply(let name, let item):
            switch item.change {
            case .store(let data): write(data, key: item.key, name: name)
            case .remove: remove(name)
            }
        }
    }

    private func write(_ data: Data, key: [UInt8], name: EntryName) {
        let now = settings.now()
        state.withLock { $0.uses.note(name, at: now) }
        do throws(DataCacheError) {
            let length = try files.write(name, key: key, data: data)
            let isSweepDue = state.withLock { $0.noteWritten(length) }
            if isSweepDue { threads.enqueue { self.sweepWhileDue() } }
        } catch {
            // No value is better than the one before. If not even that works, the failure to write tells enough.
            try? files.remove(name)
            note(error)
        }
    }

    private func remove(_ name: EntryName) {
        do throws(DataCacheError) { try files.remove(name) } catch { note(error) }
    }
}

extension DataCache.State {
    /// Whether the caller has to start the writing of changes: there are some, and nobody does.
    mutating func startsWriting() -> Bool {
        guard !isWriting, !changes.isEmpty else { return false }
        isWriting = true
        return true
    }

    /// Then nobody else may take the room.
    var isSomebodyWaitingForRoom: Bool {
        waiters.contains { if case .room = $0.condition { true } else { false } }
    }

    func isMet(_ condition: DataCache.Waiter.Condition) -> Bool {
        switch condition {
        case .all(let number): changes.isSettled(through: number)
        case .one(let name, let number): changes.isSettled(name, through: number)
        case .room(let bytes): changes.byteCount <= bytes
        }
    }

    mutating func takeMetWaiters() -> [DataCache.Waiter] {
        guard !waiters.isEmpty else { return [] }
        var met: [DataCache.Waiter] = []
        var unmet: [DataCache.Waiter] = []
        for waiter in waiters {
            if isMet(waiter.condition) { met.append(waiter) } else { unmet.append(waiter) }
        }
        waiters = unmet
        return met
    }
}
