public import NukeCore

/// A processor that does nothing, is known by its id, and counts how often it ran.
public struct MockProcessor: ImageProcessing {
    /// Counts the work of processors by id.
    public final class Counter: Sendable {
        private let counts = Lock<[String: Int]>([:])

        /// Creates a counter at zero.
        public init() {}

        /// How often the processor with this id ran.
        public subscript(id: String) -> Int { counts.withLock { $0[id] ?? 0 } }

        /// How often processors ran, all together.
        public var total: Int { counts.withLock { $0.values.reduce(0, +) } }

        func add(_ id: String) { counts.withLock { $0[id, default: 0] += 1 } }
    }

    public let identifier: String
    private let counter: Counter?
    private let willProcess: @Sendable () -> Void

    /// Creates a processor.
    public init(_ id: String, counter: Counter? = nil, willProcess: @escaping @Sendable () -> Void = {}) {
        identifier = id
        self.counter = counter
        self.willProcess = willProcess
    }

    public func process(_ image: PlatformImage) -> PlatformImage? {
        counter?.add(identifier)
        willProcess()
        return image.withScale(image.scale)
    }
}
