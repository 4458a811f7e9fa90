#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension ImagePipeline {
    /// Decodes complete data in the decoding queue, as the node's operation; `completion` is not called once it is disposed.
    ///
    /// With `decoder`, if there is one; with a new one otherwise. Before, the load's working set is reserved, which may take
    /// its time; the node holds the reservation afterwards.
    @ImagePipelineActor
    func decode(
        _ context: ImageDecodingContext, with decoder: (any ImageDecoding)? = nil, for node: TaskNode<ImageResponse>,
        completion: @escaping @ImagePipelineActor (Result<ImageContainer, Error>) -> Void
    ) {
        var context = context
        context.limits = configuration.imageLimits
        context.truncationPolicy = configuration.truncationPolicy
        guard let decoder = decoder ?? delegate.imageDecoder(for: context, pipeline: self) else {
            return completion(.failure(.decoderNotRegistered(context: context)))
        }
        let job = DecodingJob(context: context, decoder: decoder, budget: memoryBudget)
        decode(job, for: node, since: MonotonicClock.now, with: node.reservation, completion: completion)
    }

    /// Makes an attempt; one without enough memory gives its place in the queue back, and waits for its turn.
    @ImagePipelineActor
    private func decode(
        _ job: DecodingJob, for node: TaskNode<ImageResponse>, since enqueued: Double,
        with reservation: MemoryBudget.Reservation?,
        completion: @escaping @ImagePipelineActor (Result<ImageContainer, Error>) -> Void
    ) {
        let handle: @ImagePipelineActor (Timed<DecodingJob.Outcome>, TaskNode<ImageResponse>) -> Void = { timed, node in
            var step = WorkLog.Step(
                kind: .decoding, subject: .decoder(type(of: job.decoder)), queuedSince: enqueued, start: timed.start,
                end: timed.end)
            switch timed.value {
            case .success(let container, let reservation, let decoding):
                node.reservation = reservation
                step.outputByteCount = container.image.byteCount
                node.note { $0.decoding = decoding }
                node.note(step)
                completion(.success(container))
            case .failure(let error):
                step.failure = "\(error)"
                node.note(step)
                completion(.failure(error))
            case .needsMemory(let byteCount):
                node.operation = self.memoryBudget.wait(for: byteCount, priority: node.priority) { reservation in
                    guard !node.isDisposed else { return }
                    self.decode(job, for: node, since: enqueued, with: reservation, completion: completion)
                }
            }
        }
        guard job.decoder.isAsynchronous else {
            return handle(Timed { started(job, for: node).run(reservation, priority: node.priority) }, node)
        }
        let cancellation = job.context.cancellation
        if let decoder = job.decoder as? any AsyncImageDecoding {
            let queue = decoder.decodingQueue ?? configuration.imageDecodingQueue
            node.operation = queue.add(priority: node.priority) {
                let (job, priority) = (self.started(job, for: node), node.priority)
                let outcome = await withTaskCancellationHandler {
                    await Timed { await job.run(reservation, priority: priority, awaiting: decoder) }
                } onCancel: {
                    cancellation.cancel()
                }
                if !node.isDisposed { handle(outcome, node) }
            }
        } else {
            node.operation = configuration.imageDecodingQueue.add(priority: node.priority) { operation in
                let (job, priority) = (self.started(job, for: node), operation.priority)
                operation.onCancel = { cancellation.cancel() }
                operation.run({ Timed { job.run(reservation, priority: priority) } }) { outcome in
                    if !node.isDisposed { handle(outcome, node) }
                }
            }
        }
    }

    /// The job as it is when it is its turn: with the processors of all tasks that have joined by then.
    @ImagePipelineActor
    private func started(_ job: DecodingJob, for node: TaskNode<ImageResponse>) -> DecodingJob {
        var job = job
        job.processors = processors(after: job.context.request, for: node)
        return job
    }

    /// The lists of processors that the tasks which wait for a node want applied to what a request gives.
    @ImagePipelineActor
    func processors(after request: ImageRequest, for node: TaskNode<ImageResponse>) -> Set<ProcessorList> {
        var lists = Set<ProcessorList>()
        for task in node.imageTasks where task.request.processors.count > request.processors.count {
            lists.insert(ProcessorList(Array(task.request.resolvedProcessors.dropFirst(request.processors.count))))
        }
        return lists
    }
}

extension ImageLimits {
    /// Checks what a header tells, whichever decoder read it.
    func check(
        _ properties: ImageProperties, for context: ImageDecodingContext
    ) throws(ImageDecodingError) {
        let codec = context.request.url == nil ? "" : properties.type.rawValue
        // What is kept after a reduction is the decoder's to know; here the pixels and the sides count.
        if !properties.isVector {
            try check(width: properties.width, height: properties.height, decodedBytes: 0, codec: codec)
        }
        guard properties.frameCount <= frameCount else {
            throw .limitExceeded("\(properties.frameCount) frames; a picture may have \(frameCount)", codec: codec)
        }
    }
}
