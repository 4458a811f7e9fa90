internal import Synchronization

/// The bytes that the loads of a pipeline may hold at once, and the loads that wait for some.
///
/// A load reserves everything it will need in one step, before it decodes, so that no two loads can wait for each other.
/// Who waits is admitted by priority, then in the order of arrival; nobody overtakes, so what needs much gets its turn.
final class MemoryBudget: Sendable {
    private struct State {
        var reserved = 0
        var waitingCounts = [Int](repeating: 0, count: ImageRequest.Priority.allCases.count)
    }

    /// Bytes that there are in all.
    let limit: Int
    private let state = Lock(State())
    @ImagePipelineActor private var waiting: [LinkedList<Waiter>] = ImageRequest.Priority.allCases.map { _ in
        LinkedList()
    }

    init(limit: Int) { self.limit = limit }

    /// Bytes that are reserved.
    var reserved: Int { state.withLock { $0.reserved } }

    /// How many loads wait.
    var waitingCount: Int { state.withLock { $0.waitingCounts.reduce(0, +) } }

    /// The loads that wait, in the order in which they will be admitted as things stand.
    @ImagePipelineActor var pending: [Waiter] { waiting.reversed().flatMap(\.values) }

    /// Takes bytes at once; nil if they are not there, or others that are as urgent wait already.
    func reserve(_ byteCount: Int, priority: ImageRequest.Priority) -> Reservation? {
        let isReserved = state.withLock { state in
            let isFirst = state.waitingCounts[priority.rawValue...].allSatisfy { $0 == 0 }
            guard isFirst, byteCount <= limit - state.reserved else { return false }
            state.reserved += byteCount
            return true
        }
        return isReserved ? Reservation(self, byteCount) : nil
    }

    /// Takes bytes whether they are there or not, for work that can't wait.
    func take(_ byteCount: Int) -> Reservation {
        state.withLock { $0.reserved += byteCount }
        return Reservation(self, byteCount)
    }

    /// Calls `onAdmitted` when the bytes are there, which must be no more than the limit.
    @ImagePipelineActor
    func wait(
        for byteCount: Int, priority: ImageRequest.Priority,
        onAdmitted: @escaping @ImagePipelineActor (Reservation) -> Void
    ) -> Waiter {
        let waiter = Waiter(self, byteCount, priority, onAdmitted)
        waiter.place = waiting[priority.rawValue].append(waiter)
        state.withLock { $0.waitingCounts[priority.rawValue] += 1 }
        // What was released meanwhile found nobody waiting.
        scheduleAdmission()
        return waiter
    }

    private func change(by byteCount: Int) {
        let isSomebodyWaiting = state.withLock { state in
            state.reserved += byteCount
            return state.waitingCounts.contains { $0 > 0 }
        }
        if isSomebodyWaiting, byteCount < 0 { scheduleAdmission() }
    }

    private func scheduleAdmission() { Task { @ImagePipelineActor in admit() } }

    @ImagePipelineActor
    private func admit() {
        while let waiter = waiting.last(where: { $0.first != nil })?.first?.value {
            let isReserved = state.withLock { state in
                guard waiter.byteCount <= limit - state.reserved else { return false }
                state.reserved += waiter.byteCount
                return true
            }
            guard isReserved else { return }
            remove(waiter)
            waiter.admit(Reservation(self, waiter.byteCount))
        }
    }

    @ImagePipelineActor
    private func remove(_ waiter: Waiter) {
        guard let place = waiter.place else { return }
        waiter.place = nil
        waiting[waiter.priority.rawValue].remove(place)
        state.withLock { $0.waitingCounts[waiter.priority.rawValue] -= 1 }
    }
}

extension MemoryBudget {
    /// Bytes taken out of a budget, given back when the last reference goes.
    final class Reservation: Sendable {
        private let budget: MemoryBudget
        private let reserved: Atomic<Int>

        fileprivate init(_ budget: MemoryBudget, _ byteCount: Int) {
            self.budget = budget
            reserved = Atomic(byteCount)
        }

        deinit { budget.change(by: -reserved.load(ordering: .relaxed)) }

        /// Bytes that are held.
        var byteCount: Int { reserved.load(ordering: .relaxed) }

        /// Makes the reservation what is really needed, which may be more than is left: it is there already.
        func resize(to byteCount: Int) {
            budget.change(by: byteCount - reserved.exchange(byteCount, ordering: .relaxed))
        }
    }

    /// A load that waits for its bytes.
    @ImagePipelineActor
    final class Waiter: NodeWork {
        private let budget: MemoryBudget
        fileprivate let byteCount: Int
        var owner: (any TaskSubscriber)?
        fileprivate var place: LinkedList<Waiter>.Node?
        private var onAdmitted: (@ImagePipelineActor (Reservation) -> Void)?

        /// Raised, it stands last among its new peers; lowered, first: as in a `TaskQueue`.
        var priority: ImageRequest.Priority {
            didSet {
                guard priority != oldValue, let place else { return }
                budget.waiting[oldValue.rawValue].remove(place)
                let peers = budget.waiting[priority.rawValue]
                self.place = priority > oldValue ? peers.append(self) : peers.prepend(self)
                budget.state.withLock { state in
                    state.waitingCounts[oldValue.rawValue] -= 1
                    state.waitingCounts[priority.rawValue] += 1
                }
                budget.admit()
            }
        }

        fileprivate init(
            _ budget: MemoryBudget, _ byteCount: Int, _ priority: ImageRequest.Priority,
            _ onAdmitted: @escaping @ImagePipelineActor (Reservation) -> Void
        ) {
            self.budget = budget
            self.byteCount = byteCount
            self.priority = priority
            self.onAdmitted = onAdmitted
        }

        /// Stops waiting.
        func cancel() {
            onAdmitted = nil
            owner = nil
            guard place != nil else { return }
            budget.remove(self)
            // Those behind it may need less.
            budget.admit()
        }

        fileprivate func admit(_ reservation: Reservation) {
            let onAdmitted = onAdmitted
            self.onAdmitted = nil
            owner = nil
            onAdmitted?(reservation)
        }
    }
}
