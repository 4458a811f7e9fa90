internal import Glibc

/// A thread of its own that sleeps in the kernel until memory is short; without it, and while it sleeps, nothing is spent.
enum MemoryPressureWatch {
    /// Waits on the first list of sources of which one can be opened; false if there is none.
    ///
    /// `report` is called on that thread, not again before `pause` milliseconds have passed.
    static func start(
        _ lists: [[MemoryPressureSource]], pause: Int32 = 2000,
        report: @escaping @Sendable (MemoryPressure) -> Void
    ) -> Bool {
        for list in lists {
            let sources = list.compactMap { $0.open() }
            if sources.isEmpty { continue }
            let starter = pthread_self()
            CodecThreads(name: "nuke-pressure", count: 1).enqueue {
                // Where the system has no thread to give, this is the one that asked, which must not wait.
                if pthread_equal(starter, pthread_self()) == 0 { wait(on: sources, pause, report) }
                for source in sources { source.close() }
            }
            return true
        }
        return false
    }

    private static func wait(
        on opened: [OpenMemoryPressureSource], _ pause: Int32, _ report: (MemoryPressure) -> Void
    ) {
        // SAFETY: the array holds as many elements as poll is told.
        var sources = opened
        while !sources.isEmpty {
            var polled = sources.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
            guard unsafe poll(&polled, nfds_t(polled.count), -1) >= 0 else {
                if errno == EINTR { continue }
                return
            }
            var worst = MemoryPressure.normal
            for index in polled.indices.reversed() where polled[index].revents != 0 {
                switch sources[index].answer(to: polled[index].revents) {
                case .pressure(let pressure): worst = pressure.rawValue > worst.rawValue ? pressure : worst
                case .nothing: break
                case .end: sources.remove(at: index)
                }
            }
            guard worst != .normal else { continue }
            report(worst)
            if pause > 0 { poll(nil, 0, pause) }
        }
    }
}
