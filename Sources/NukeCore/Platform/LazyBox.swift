internal import Synchronization

/// A value that is made when it is first asked for, from any thread, without a lock.
///
/// Two threads that ask at once may both make it; one of the two stays. `AtomicLazyReference` would do, but its calls are
/// not specialised: they look the type's metadata up each time, which is a good part of a cache hit.
@safe
final class LazyBox<Value: Sendable>: Sendable {
    private final class Content: Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }

    /// Holds a reference to the content, once there is one.
    private let content = unsafe Atomic<Unmanaged<Content>?>(nil)

    deinit {
        // SAFETY: the reference was retained when it was stored, and nobody can ask any more.
        unsafe content.load(ordering: .acquiring)?.release()
    }

    func value(_ make: () -> Value) -> Value {
        // SAFETY: what is stored stays, with its reference, as long as self.
        if let stored = unsafe content.load(ordering: .acquiring) {
            return unsafe stored._withUnsafeGuaranteedRef { $0.value }
        }
        let made = Content(make())
        let reference = unsafe Unmanaged.passRetained(made)
        let (isStored, stored) = unsafe content.compareExchange(
            expected: nil, desired: reference, ordering: .acquiringAndReleasing)
        if isStored { return made.value }
        unsafe reference.release()
        return unsafe stored?._withUnsafeGuaranteedRef { $0.value } ?? made.value
    }
}
