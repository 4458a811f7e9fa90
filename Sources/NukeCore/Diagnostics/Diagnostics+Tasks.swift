#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// What is told of loads.
extension Diagnostics {
    /// Tells a step that is over.
    static func trace(
        _ step: WorkLog.Step, of request: ImageRequest?, for tasks: [ImageTask], _ loading: WorkLog.Loading?
    ) {
        var fields: [(name: String, value: Event.Value)] = []
        if let subject = step.subject { fields.append(("name", .text(subject.name))) }
        fields.append(("url", .text(address(of: request))))
        fields.append(("tasks", .text(tasks.map { "\($0.taskId)" }.joined(separator: " "))))
        fields.append(("ms", .number(((step.end ?? step.start) - step.start) * 1e3)))
        fields.append(("bytes", .integer(step.outputByteCount)))
        if step.kind == .dataLoading { fields.append(("resumed_bytes", .integer(loading?.resumedByteCount ?? 0))) }
        fields.append(("outcome", .text(step.failure ?? "success")))
        send(Event(.trace, step.kind.rawValue, fields: fields))
    }

    /// Tells a task that has ended.
    static func report(
        _ task: ImageTask, _ result: Result<ImageResponse, ImagePipeline.Error>, _ metrics: ImageTask.Metrics
    ) {
        var fields: [(name: String, value: Event.Value)] = [
            ("id", .integer(Int(task.taskId))), ("url", .text(address(of: task.request))),
        ]
        switch result {
        case .success(let response):
            fields.append(("outcome", .text("success")))
            fields.append(("cache", .text(response.cacheType.map { "\($0)" } ?? "none")))
            if !task.isDataTask {
                fields.append(("size", .text("\(response.image.width)x\(response.image.height)")))
            }
        case .failure(.cancelled): fields.append(("outcome", .text("cancelled")))
        case .failure(let error):
            fields.append(("outcome", .text("failure")))
            fields.append(("error", .text("\(error)")))
        }
        fields.append(("ms", .number(metrics.duration * 1e3)))
        fields.append(("queued_ms", .number(metrics.queuedDuration * 1e3)))
        for kind in ImageTask.Metrics.Stage.Kind.allCases where metrics.stages.contains(where: { $0.kind == kind }) {
            fields.append((kind.rawValue + "_ms", .number(metrics.duration(of: kind) * 1e3)))
        }
        if let count = metrics.bodyByteCount { fields.append(("bytes", .integer(count))) }
        if let decoder = metrics.decoder { fields.append(("decoder", .text(decoder))) }
        if let type = metrics.detectedType { fields.append(("type", .text(type.rawValue))) }
        send(Event(.info, "task", fields: fields))
    }

    /// The address, without a name and a password that it may hold, and without the query, which may be a secret too.
    private static func address(of request: ImageRequest?) -> String {
        guard let request else { return "" }
        guard let url = request.url else { return request.imageID ?? "" }
        if url.scheme?.lowercased() == "data" { return "data:" }
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: false) else { return "" }
        parts.user = nil
        parts.password = nil
        parts.query = nil
        parts.fragment = nil
        return parts.string ?? ""
    }
}
