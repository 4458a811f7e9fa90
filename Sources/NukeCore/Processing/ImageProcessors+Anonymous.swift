extension ImageProcessors {
    /// A processor made of a closure; its identity is its id alone.
    public struct Anonymous: ImageProcessing, CustomStringConvertible {
        /// What tells it from others.
        public let identifier: String
        private let closure: @Sendable (PlatformImage) -> PlatformImage?

        /// Creates a processor; the closure runs on codec threads and answers nil to fail.
        public init(id: String, _ closure: @escaping @Sendable (PlatformImage) -> PlatformImage?) {
            identifier = id
            self.closure = closure
        }

        /// What the closure makes of the image.
        public func process(_ image: PlatformImage) -> PlatformImage? { closure(image) }

        /// The id, for people.
        public var description: String { "AnonymousProcessor(identifier: \(identifier))" }
    }
}
