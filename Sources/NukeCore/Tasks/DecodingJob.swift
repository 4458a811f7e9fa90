/// The decode of complete data: the header first, then memory, then pixels.
struct DecodingJob: Sendable {
    enum Outcome: Sendable {
        case success(ImageContainer, MemoryBudget.Reservation, WorkLog.Decoding)
        case failure(ImagePipeline.Error)
        /// Nothing was decoded; it takes so many bytes, which are not to be had now.
        case needsMemory(Int)
    }

    private enum Admission: Sendable {
        case admitted(WorkingSet, MemoryBudget.Reservation, ImageProperties?)
        case needsMemory(Int)
    }

    let context: ImageDecodingContext
    let decoder: any ImageDecoding
    let budget: MemoryBudget
    /// The processors that will run on the image, of each task that waits for it.
    var processors: Set<ProcessorList> = []

    /// Decodes with what is reserved, or else with what can be reserved at once; runs on a codec thread.
    func run(_ reservation: MemoryBudget.Reservation?, priority: ImageRequest.Priority) -> Outcome {
        do {
            switch try admit(reservation, priority) {
            case .admitted(let workingSet, let reservation, let properties):
                return success(try decoder.decode(context.data), workingSet, reservation, properties)
            case .needsMemory(let byteCount): return .needsMemory(byteCount)
            }
        } catch {
            return failure(error)
        }
    }

    /// The same on the caller's thread, which can't wait for memory: what is not there is taken nevertheless.
    func runWithoutWaiting() -> ImageContainer? {
        var outcome = run(nil, priority: .veryHigh)
        if case .needsMemory(let byteCount) = outcome { outcome = run(budget.take(byteCount), priority: .veryHigh) }
        guard case .success(let container, _, _) = outcome else { return nil }
        return container
    }

    /// The same with a decoder that holds no thread while it works.
    func run(
        _ reservation: MemoryBudget.Reservation?, priority: ImageRequest.Priority,
        awaiting decoder: any AsyncImageDecoding
    ) async -> Outcome {
        do {
            let admission = await CodecThreads.shared.run(priority: priority) {
                Result { try admit(reservation, priority) }
            }
            switch try admission.get() {
            case .admitted(let workingSet, let reservation, let properties):
                return success(try await decoder.decode(context.data), workingSet, reservation, properties)
            case .needsMemory(let byteCount): return .needsMemory(byteCount)
            }
        } catch {
            return failure(error)
        }
    }

    private func admit(
        _ reservation: MemoryBudget.Reservation?, _ priority: ImageRequest.Priority
    ) throws -> Admission {
        try context.cancellation.check()
        let properties = try decoder.properties(of: context.data)
        if let properties { try context.limits.check(properties, for: context) }
        let workingSet = WorkingSet(properties, processors: processors)
        guard workingSet.byteCount <= budget.limit else {
            throw ImageDecodingError.limitExceeded(
                """
                the load needs \(workingSet.byteCount >> 20) MiB of memory; all loads of the pipeline together may hold \
                \(budget.limit >> 20) MiB
                """, codec: properties?.type.rawValue ?? "")
        }
        guard let reservation = reservation ?? budget.reserve(workingSet.byteCount, priority: priority) else {
            return .needsMemory(workingSet.byteCount)
        }
        return .admitted(workingSet, reservation, properties)
    }

    private func success(
        _ decoded: consuming ImageContainer, _ workingSet: WorkingSet, _ reservation: MemoryBudget.Reservation,
        _ properties: ImageProperties?
    ) -> Outcome {
        // Held by nobody else, so that colours can be changed in place.
        var container = consume decoded
        container.reduceFrames(for: context.request)
        container.convertToSRGB(for: context.request, by: context.colorConverter)
        let decoding = WorkLog.Decoding(
            decoder: type(of: decoder),
            sourceSize: properties?.size ?? container.originalSize ?? container.image.size,
            decodedSize: container.image.size, type: container.type ?? AssetType(context.data))
        reservation.resize(to: workingSet.byteCount(decoded: container, processors: processors))
        // What a decoder makes of everything is final, whatever it says.
        if container.isPreview { container.isPreview = false }
        return .success(container, reservation, decoding)
    }

    private func failure(_ error: any Error) -> Outcome {
        if (error as? ImageDecodingError)?.code == .cancelled { return .failure(.cancelled) }
        return .failure(.decodingFailed(decoder: decoder, context: context, error: error))
    }
}
