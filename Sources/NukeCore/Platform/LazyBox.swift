internal import Synchronization

/// A value that is made when it is first asked for, from any thread, without a lock.
///
/// Two threads that ask at once may both make it; one of the two stays.
final class LazyBox<Value: Sendable>: Sendable {
    private final class Content: Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }

    private let content = AtomicLazyReference<Content>()

    func value(_ make: () -> Value) -> Value {
        content.load()?.value ?? content.storeIfNil(Content(make())).value
    }
}
