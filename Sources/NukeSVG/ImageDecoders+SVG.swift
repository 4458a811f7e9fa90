public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageDecoders {
    /// Decodes SVG documents over librsvg, drawn at the size at which they will be used.
    ///
    /// A document's own size is that of CSS, at 96 dots an inch, times the scale of the request. What a thumbnail or the first
    /// processor wants is drawn at once, larger than its own size too. The container's `vector` draws it again at another.
    ///
    /// Nothing outside of the data is loaded: neither files nor addresses that it refers to, but for fonts. Documents are refused
    /// unseen that have more than 2 MB, or filters that make too much work. Drawing has two threads of its own; what is not done
    /// after 3 seconds ends with `limitExceeded`, and other formats go on meanwhile.
    public struct SVG: AsyncImageDecoding {
        static let codec = "SVG"

        private final class Memory: Sendable {
            /// What a look over the data told.
            let read = Lock<(data: Data, picture: SVGPicture)?>(nil)
        }

        private let context: ImageDecodingContext
        private let options: Options
        private let library: SVGLibrary?
        private let threads: SVGThreads
        private let memory = Memory()

        /// Creates the decoder of one load; nil if the context's data is no SVG.
        ///
        /// - Parameters:
        ///   - context: The load.
        ///   - options: How to draw.
        public init?(context: ImageDecodingContext, options: Options = Options()) {
            self.init(context: context, options: options, library: nil, threads: .shared)
        }

        init?(context: ImageDecodingContext, options: Options, library: SVGLibrary?, threads: SVGThreads) {
            let answer = SVGSniffer.answer(for: context.data, isComplete: context.isCompleted, library: library)
            guard answer == .yes else { return nil }
            self.context = context
            self.options = options
            self.library = library
            self.threads = threads
        }

        /// A queue of its own, as it has threads of its own.
        public var decodingQueue: TaskQueue? { threads.queue }

        /// What the document says of its size, in pixels at the scale of the request; opens no library unless it is compressed.
        public func properties(of data: Data) throws -> ImageProperties? {
            let picture = try picture(of: data)
            let size = picture.pixelSize(scale: context.request.scale)
            let drawn = context.drawingSize(for: size)
            var properties = ImageProperties(
                type: .svg, storedWidth: Int(size.width), storedHeight: Int(size.height), hasAlpha: true, bitDepth: 8,
                colorModel: .rgb)
            properties.isVector = true
            properties.workingSetBytes = picture.workingSet(drawn)
            return properties
        }

        /// The picture, at the size of the context's hint; blocks the calling thread until it is drawn.
        ///
        /// Looks at the cancellation flag every few milliseconds.
        public func decode(_ data: Data) throws -> ImageContainer {
            try context.cancellation.check()
            let (drawing, original, size) = try drawing(of: data)
            let image = try drawing.job(width: Int(size.width), height: Int(size.height))
                .image(cancellation: context.cancellation)
            return try container(image, drawing, original)
        }

        /// The picture, at the size of the context's hint, with no thread held while it is drawn.
        ///
        /// Throws `cancelled` at once when the task is cancelled.
        @concurrent
        public func decode(_ data: Data) async throws -> ImageContainer {
            try context.cancellation.check()
            let (drawing, original, size) = try drawing(of: data)
            let image = try await drawing.image(width: Int(size.width), height: Int(size.height))
            return try container(image, drawing, original)
        }

        private func picture(of data: Data) throws(ImageDecodingError) -> SVGPicture {
            if let read = memory.read.withLock({ $0 }), read.data == data { return read.picture }
            let picture = try SVGPicture(data, limit: options.byteCount, library: library)
            memory.read.withLock { $0 = (data, picture) }
            return picture
        }

        private func drawing(
            of data: Data
        ) throws(ImageDecodingError) -> (drawing: SVGDrawing, original: ImageSize, size: ImageSize) {
            let picture = try picture(of: data)
            memory.read.withLock { $0 = nil }
            let drawing = SVGDrawing(
                picture: picture, options: options, limits: context.limits, priority: context.request.priority,
                library: library ?? .shared, threads: threads)
            let original = picture.pixelSize(scale: context.request.scale)
            return (drawing, original, context.drawingSize(for: original))
        }

        private func container(
            _ image: Bitmap, _ drawing: SVGDrawing, _ original: ImageSize
        ) throws(ImageDecodingError) -> ImageContainer {
            var container = try context.makeContainer(image: image, type: .svg, originalSize: original)
            container.vector = ImageVector(size: drawing.picture.size, drawing: drawing)
            return container
        }
    }
}
