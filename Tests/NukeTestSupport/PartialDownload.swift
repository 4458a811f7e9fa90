public import FoundationEssentials
public import NukeCore

/// An image task whose bytes a test sends chunk by chunk.
@ImagePipelineActor
public struct PartialDownload {
    /// The task.
    public let task: ImageTask
    /// What the loader was asked for.
    public let transfer: MockTransfer
    /// The whole body.
    public let body: Data
    private let response: DataResponse
    private let previewLog = Locked<[ImageResponse]>([])
    private let listening: Task<Void, Never>

    /// Bytes that begin as a GIF does, for which previews are incremental by default.
    public nonisolated static func gif(count: Int) -> Data {
        Data("GIF89a".utf8) + Data(repeating: 7, count: count - 6)
    }

    /// Starts a task and waits for the transfer it makes.
    ///
    /// - Parameters:
    ///   - test: The pipeline with its loader.
    ///   - request: What to load.
    ///   - body: What it brings.
    ///   - expected: The length that the response tells; by default that of the body.
    ///   - headers: The header fields of the response.
    public init(
        _ test: TestPipeline, _ request: ImageRequest, body: Data = Self.gif(count: 3000), expected: Int64? = nil,
        headers: HTTPHeaders = [:]
    ) async {
        test.loader.answerEverything(with: nil)
        let count = test.loader.loadCount
        let task = test.pipeline.imageTask(with: request)
        let log = previewLog
        let previews = task.previews
        listening = Task { for await preview in previews { log.withLock { $0.append(preview) } } }
        self.task = task
        self.body = body
        await waitUntil { test.loader.loadCount > count }
        transfer = test.loader.transfers[count]
        response = DataResponse(
            url: request.url, statusCode: 200, headers: headers,
            expectedContentLength: expected ?? Int64(body.count))
    }

    /// The previews that the task has brought.
    public var previews: [ImageResponse] { previewLog.withLock { $0 } }

    /// Sends the part of the body up to `end`, and waits until the pipeline has it.
    public func send(upTo end: Int) async {
        let start = Int(task.status.progress.completed)
        transfer.send(body[start..<end], response)
        await waitUntil { task.status.progress.completed == Int64(end) || task.status.result != nil }
    }

    /// Sends what is left and the end, and waits for the outcome and for all previews.
    @discardableResult
    public func finish() async -> Result<ImageResponse, ImagePipeline.Error> {
        let start = Int(task.status.progress.completed)
        transfer.send(body[start...], response)
        transfer.finish()
        return await outcome()
    }

    /// Waits for the outcome and for all previews.
    public func outcome() async -> Result<ImageResponse, ImagePipeline.Error> {
        await listening.value
        do throws(ImagePipeline.Error) { return .success(try await task.response) } catch { return .failure(error) }
    }
}
