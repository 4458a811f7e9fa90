public import NukeCore

/// A processor that does nothing, is known by its id, and counts how often it ran.
public struct MockProcessor: ImageProcessing {
    /// Counts the work of processors by id.
    public final class Counter: Sendable {
        private let log = Lock<[String]>([])

        /// Creates a counter at zero.
        public init() {}

        /// How often the processor with this id ran.
        public subscript(id: String) -> Int { log.withLock { log in log.count { $0 == id } } }

        /// How often processors ran, all together.
        public var total: Int { log.withLock { $0.count } }

        /// The ids of the processors that ran, in order.
        public var order: [String] { log.withLock { $0 } }

        func add(_ id: String) { log.withLock { $0.append(id) } }
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
