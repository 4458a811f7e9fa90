/// What several loads at once come to, in the order in which they end; a failure among them does not end the others.
///
/// Loads start with the iteration, anew for each. Cancelling the Swift task that iterates, or leaving its loop, ends what
/// is under way, and the iteration.
public struct ImageResults: AsyncSequence, Sendable {
    /// The outcome of one load.
    public struct Element: Sendable {
        /// Which of the requests it is, from 0.
        public let index: Int
        /// What it came to.
        public let result: Result<ImageResponse, ImagePipeline.Error>
    }

    /// None: failures are elements.
    public typealias Failure = Never

    let pipeline: ImagePipeline
    let requests: [ImageRequest]

    /// Starts the loads, in the order of the requests, and iterates over what they come to.
    public func makeAsyncIterator() -> AsyncStream<Element>.Iterator {
        producedStream { [pipeline, requests] yield in
            let tasks = requests.map { pipeline.imageTask(with: $0) }
            await withTaskGroup { group in
                for (index, task) in tasks.enumerated() {
                    group.addTask {
                        let result: Result<ImageResponse, ImagePipeline.Error>
                        do throws(ImagePipeline.Error) {
                            result = .success(try await task.response)
                        } catch {
                            result = .failure(error)
                        }
                        yield(Element(index: index, result: result))
                    }
                }
            }
        }.makeAsyncIterator()
    }

    /// All outcomes, in the order of the requests; `cancelled` where the Swift task was cancelled before.
    public func inOrder() async -> [Result<ImageResponse, ImagePipeline.Error>] {
        var results = [Result<ImageResponse, ImagePipeline.Error>](
            repeating: .failure(.cancelled), count: requests.count)
        for await element in self { results[element.index] = element.result }
        return results
    }
}
