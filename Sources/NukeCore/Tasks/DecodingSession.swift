#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The decoder of one download with the context that it was made from.
struct DecodingSession: Sendable {
    /// What comes of partial data.
    enum Outcome: Sendable {
        case nothing
        case preview(ImageContainer)
        /// As good as it gets: the rest of the data would add nothing.
        case final(ImageContainer)
        /// Bytes from further on are needed first.
        case needsRange(Range<Int>)
    }

    /// Nil: still to be made.
    let decoder: (any ImageDecoding)?
    let context: ImageDecodingContext

    /// The context of the complete data; the cancellation flag that the decoder looks at stays.
    func completed(with original: OriginalData) -> ImageDecodingContext {
        var context = context
        context.data = original.data
        context.dataResponse = original.response
        context.isCompleted = true
        return context
    }

    /// Decodes what has come so far; whatever is wrong with it, the final decode will tell.
    ///
    /// What the decoder holds from then on is reserved for the whole load; there is no preview where that would take waiting.
    func decodePartially(_ data: Data, memory: Memory) -> (Outcome, MemoryBudget.Reservation?) {
        do {
            try context.cancellation.check()
            // The header may not have come yet.
            let properties = try? decoder?.properties(of: data)
            if let properties { try context.limits.check(properties, for: context) }
            let workingSet = WorkingSet(properties, processors: memory.processors)
            let reservation =
                memory.reservation ?? memory.budget.reserve(workingSet.byteCount, priority: memory.priority)
            guard let reservation else { return (.nothing, nil) }
            guard var container = try decoder?.decodePartiallyDownloadedData(data) else {
                return (.nothing, properties == nil ? memory.reservation : reservation)
            }
            container.reduceFrames(for: context.request)
            container.convertToSRGB(for: context.request, by: context.colorConverter)
            if properties == nil || !container.isPreview {
                reservation.resize(to: workingSet.byteCount(decoded: container, processors: memory.processors))
            }
            return (container.isPreview ? .preview(container) : .final(container), reservation)
        } catch {
            let range = (error as? ImageDecodingError)?.neededRange
            return (range.map { .needsRange($0) } ?? .nothing, memory.reservation)
        }
    }

    /// What a preview has, or may take, to hold.
    struct Memory: Sendable {
        let budget: MemoryBudget
        /// What an earlier preview of the load has taken.
        let reservation: MemoryBudget.Reservation?
        let processors: Set<ProcessorList>
        let priority: ImageRequest.Priority
    }
}
