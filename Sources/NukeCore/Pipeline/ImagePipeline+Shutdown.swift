extension ImagePipeline {
    /// Ends the pipeline in good order: takes no more tasks, lets those under way end, and has everything stored on disk.
    ///
    /// Tasks made from now on fail with `pipelineInvalidated`. What is not done in time is cancelled. The data cache is
    /// flushed in any case, however long that takes.
    ///
    /// - Parameter seconds: How long to wait for tasks, and for images that are being encoded for the data cache.
    /// - Returns: Whether everything ended in time.
    @discardableResult
    public func shutdown(within seconds: Double) async -> Bool {
        stopAccepting()
        let isInTime = await finishWork(within: seconds)
        invalidate()
        await dataStores.completion()
        if let cache = configuration.dataCache { await CodecThreads.disk.run { cache.flush() } }
        return isInTime
    }

    private func finishWork(within seconds: Double) async -> Bool {
        let clock = configuration.clock
        return await withCheckedContinuation { continuation in
            let waiting = Lock<CheckedContinuation<Bool, Never>?>(continuation)
            let answer: @Sendable (Bool) -> Void = { isInTime in
                let continuation = waiting.withLock { waiting in
                    defer { waiting = nil }
                    return waiting
                }
                continuation?.resume(returning: isInTime)
            }
            let timer = Task {
                try? await clock.sleep(for: .seconds(max(0, min(seconds, 1e9))))
                answer(false)
            }
            Task { @ImagePipelineActor in
                await becomeIdle()
                await encodings.completion()
                answer(true)
                timer.cancel()
            }
        }
    }

    /// Returns when no task is under way.
    @ImagePipelineActor
    private func becomeIdle() async {
        await withCheckedContinuation { continuation in onIdle { continuation.resume() } }
    }
}
