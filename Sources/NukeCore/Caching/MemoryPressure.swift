/// How short memory is: whoever learns of it reports it, and every `ImageCache` gives memory up.
///
/// What the kernel tells of this process's cgroup, or else of the machine, is reported without anybody's help once a cache
/// holds more than a little. Programs with another source report what that says, as GTK programs may do with the levels
/// of `GMemoryMonitor`.
public enum MemoryPressure: Int, Hashable, Sendable, CaseIterable {
    /// Memory is not short, or no longer: nothing is given up.
    case normal
    /// Others could use the memory, or the program is out of sight: caches keep a tenth of what they may hold.
    case moderate
    /// Memory is short: caches are emptied.
    case warning
    /// The kernel is about to end programs: caches are emptied.
    case critical

    /// Tells everybody who observes, every `ImageCache` among them, before it returns.
    public static func report(_ pressure: MemoryPressure) {
        for handler in observers.withLock({ Array($0.handlers.values) }) { handler(pressure) }
    }

    /// Calls `handler` with what is reported, on the thread that reports it, until the result is cancelled.
    ///
    /// The result may be dropped: only cancelling ends it.
    @discardableResult
    public static func observe(_ handler: @escaping @Sendable (MemoryPressure) -> Void) -> any Cancellable {
        watchKernel()
        let observer = Observer()
        observer.start(handler)
        return observer
    }

    /// Begins to listen to the kernel, if nobody did yet.
    static func watchKernel() { _ = isWatchingKernel }

    private static let isWatchingKernel = MemoryPressureWatch.start(MemoryPressureSource.all()) { report($0) }

    private struct Observers: Sendable {
        var handlers: [Int: @Sendable (MemoryPressure) -> Void] = [:]
        var lastNumber = 0
    }

    private static let observers = Lock(Observers())

    /// A place among those who are told.
    final class Observer: Cancellable {
        let number: Int

        init() {
            number = observers.withLock { observers in
                observers.lastNumber += 1
                return observers.lastNumber
            }
        }

        func start(_ handler: @escaping @Sendable (MemoryPressure) -> Void) {
            observers.withLock { $0.handlers[number] = handler }
        }

        func cancel() {
            let handler = observers.withLock { $0.handlers.removeValue(forKey: number) }
            withExtendedLifetime(handler) {}  // what it holds is let go of outside the lock
        }
    }
}
