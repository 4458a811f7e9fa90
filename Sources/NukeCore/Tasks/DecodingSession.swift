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
    func decodePartially(_ data: Data) -> Outcome {
        do {
            try context.cancellation.check()
            // The header may not have come yet.
            if let properties = try? decoder?.properties(of: data) {
                try context.limits.check(properties, for: context)
            }
            guard let container = try decoder?.decodePartiallyDownloadedData(data) else { return .nothing }
            return container.isPreview ? .preview(container) : .final(container)
        } catch {
            return .nothing
        }
    }
}
