extension ImageProcessors {
    /// Several processors as one, applied in order.
    ///
    /// Compositions inside it count as their members.
    public struct Composition: ImageProcessing, Hashable, CustomStringConvertible {
        let processors: [any ImageProcessing]

        /// Creates a composition; an empty one changes nothing.
        public init(_ processors: [any ImageProcessing]) {
            self.processors = processors.flatMap { ($0 as? Composition)?.processors ?? [$0] }
        }

        /// Applies every member; nil as soon as one fails.
        public func process(_ image: PlatformImage) -> PlatformImage? {
            processors.reduce(image as PlatformImage?) { image, processor in image.flatMap { processor.process($0) } }
        }

        /// Applies every member; throws what the first to fail throws.
        public func process(_ container: ImageContainer, context: ImageProcessingContext) throws -> ImageContainer {
            var container = container
            var context = context
            for processor in processors {
                container = try processor.process(container, context: context)
                container.originalSize = nil
                context.originalSize = nil
            }
            return container
        }

        /// The members' identifiers, joined so that no two different lists give the same.
        public var identifier: String { KeyParts.join(processors.map(\.identifier) + [""]) }

        /// What the first member answers.
        public func decodeHint(for original: ImageSize) -> ImageSize? { processors.first?.decodeHint(for: original) }

        /// The largest size that any member makes.
        public func outputSize(for size: ImageSize) -> ImageSize {
            var (size, largest) = (size, ImageSize(width: 0, height: 0))
            for processor in processors {
                size = processor.outputSize(for: size)
                if size.width * size.height > largest.width * largest.height { largest = size }
            }
            return processors.isEmpty ? size : largest
        }

        /// The members with their lengths in pixels.
        public func inPixels(scale: Double) -> any ImageProcessing {
            Composition(processors.map { $0.inPixels(scale: scale) })
        }

        /// Whether the members are pairwise equal.
        public static func == (a: Composition, b: Composition) -> Bool {
            ProcessorList(a.processors) == ProcessorList(b.processors)
        }

        /// Hashes the number of members.
        public func hash(into hasher: inout Hasher) { hasher.combine(ProcessorList(processors)) }

        /// The members, for people.
        public var description: String {
            "Composition(processors: [\(processors.map { "\($0)" }.joined(separator: ", "))])"
        }
    }
}
