/// What a load holds in memory at once, in bytes, as far as it can be told before anything is decoded.
struct WorkingSet {
    /// The pixels that are handed on, and what the codec holds beside them; nil if the decoder can't tell.
    private let decoding: Int?
    /// The largest image that processors make, of each different list of them.
    private let processing: Int

    /// - Parameters:
    ///   - properties: What the header tells; nil if the decoder can't say.
    ///   - processors: The processors that will run on the image, of each task that waits for it.
    init(_ properties: ImageProperties?, processors: Set<ProcessorList>) {
        guard let properties else {
            (decoding, processing) = (nil, 0)
            return
        }
        decoding = properties.workingSetBytes ?? Self.byteCount(of: properties.size)
        processing = Self.outputBytes(of: processors, for: properties.size)
    }

    /// Bytes while decoding and processing; 0 if unknown.
    var byteCount: Int { decoding.map { Self.sum($0, processing) } ?? 0 }

    /// Bytes once the image is decoded.
    func byteCount(decoded container: ImageContainer, processors: Set<ProcessorList>) -> Int {
        let size = container.originalSize ?? container.image.size
        let outputs = decoding == nil ? Self.outputBytes(of: processors, for: size) : processing
        return Self.sum(container.image.byteCount, outputs)
    }

    private static func outputBytes(of lists: Set<ProcessorList>, for size: ImageSize) -> Int {
        lists.reduce(0) { total, list in
            var (size, largest) = (size, 0)
            for processor in list.processors {
                size = processor.outputSize(for: size)
                largest = max(largest, byteCount(of: size))
            }
            return sum(total, largest)
        }
    }

    /// Bytes of a picture of this size as RGBA8; a size that is no number counts nothing, as it can't be made.
    private static func byteCount(of size: ImageSize) -> Int {
        Int(exactly: (size.width * size.height * 4).rounded(.up)) ?? (size.width * size.height > 1 ? Int.max : 0)
    }

    private static func sum(_ a: Int, _ b: Int) -> Int {
        let (sum, overflow) = a.addingReportingOverflow(b)
        return overflow ? .max : sum
    }
}
