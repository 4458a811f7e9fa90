import NukeCore

/// The image tasks of a run: equal inputs share one, however far apart they come, until the last has had its image.
final class SharedLoads: Sendable {
    private struct Load {
        var task: ImageTask?
        var usesLeft: Int
    }

    private let pipeline: ImagePipeline
    private let loads: Lock<[Int: Load]>

    /// Creates the loads of a run; `firsts` has, for each input, the number of the first one equal to it.
    init(pipeline: ImagePipeline, firsts: [Int]) {
        self.pipeline = pipeline
        var loads: [Int: Load] = [:]
        for first in firsts { loads[first, default: Load(usesLeft: 0)].usesLeft += 1 }
        self.loads = Lock(loads)
    }

    /// The response for an input whose first equal is number `first`.
    func response(
        for request: ImageRequest, at index: Int, first: Int
    ) async throws(ImagePipeline.Error) -> ImageResponse {
        let task = loads.withLock { loads in
            let task = loads[first]?.task ?? pipeline.imageTask(with: request)
            loads[first]?.task = task
            loads[first]?.usesLeft -= 1
            if loads[first]?.usesLeft == 0 { loads[first] = nil }
            return task
        }
        var response = try await task.response
        if index != first { response.cacheType = .memory }
        return response
    }
}
