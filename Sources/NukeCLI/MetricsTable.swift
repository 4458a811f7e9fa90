import NukeCore

/// What a load took, as a table for people and as an object for programs.
struct MetricsTable {
    let metrics: ImageTask.Metrics

    /// A heading and a line a step, times in milliseconds.
    func text(for input: String) -> String {
        var lines = [
            "\(input): \(milliseconds(metrics.duration)) ms, \(milliseconds(metrics.queuedDuration)) ms of it queued"
        ]
        let rows = metrics.stages.map { stage in
            (
                [stage.start, stage.queued, stage.duration].map(milliseconds)
                    + [stage.outputByteCount > 0 ? Diagnostics.formatted(byteCount: stage.outputByteCount) : ""],
                stage.kind.rawValue + (stage.name.map { " (\($0))" } ?? "")
            )
        }
        lines.append(row(["start", "queued", "took", "output"], "step"))
        lines += rows.map { row($0.0, $0.1) }
        lines.append("  " + summary)
        return lines.joined(separator: "\n") + "\n"
    }

    /// The same for programs.
    var json: JSONLine {
        var line = JSONLine()
        line.add("milliseconds", .number(metrics.duration * 1e3))
        line.add("queued", .number(metrics.queuedDuration * 1e3))
        line.add("source_width", .init(metrics.sourceSize.map { Int($0.width) }))
        line.add("source_height", .init(metrics.sourceSize.map { Int($0.height) }))
        line.add("decoded_width", .init(metrics.decodedSize.map { Int($0.width) }))
        line.add("decoded_height", .init(metrics.decodedSize.map { Int($0.height) }))
        line.add("decoder", .init(metrics.decoder))
        line.add("type", .init(metrics.detectedType?.rawValue))
        line.add("served_type", .init(metrics.servedMIMEType))
        line.add("body_bytes", .init(metrics.bodyByteCount))
        line.add("wire_bytes", .init(metrics.wireByteCount))
        line.add("resumed_bytes", .integer(metrics.resumedByteCount))
        line.add("previews", .integer(metrics.previewCount))
        line.add("cache_key", .init(metrics.dataCacheKey))
        let stages = metrics.stages.map { stage in
            var line = JSONLine()
            line.add("step", .text(stage.kind.rawValue))
            line.add("name", .init(stage.name))
            line.add("start", .number(stage.start * 1e3))
            line.add("queued", .number(stage.queued * 1e3))
            line.add("milliseconds", .number(stage.duration * 1e3))
            line.add("output_bytes", .integer(stage.outputByteCount))
            return JSONLine.Value.object(line)
        }
        line.add("stages", .list(stages))
        return line
    }

    private var summary: String {
        var parts: [String] = []
        if let size = metrics.sourceSize { parts.append("\(Int(size.width))x\(Int(size.height))") }
        if let size = metrics.decodedSize, size != metrics.sourceSize {
            parts.append("decoded at \(Int(size.width))x\(Int(size.height))")
        }
        if let decoder = metrics.decoder { parts.append("by \(decoder)") }
        if let type = metrics.detectedType { parts.append("type \(type.rawValue)") }
        if let type = metrics.servedMIMEType { parts.append("served as \(type)") }
        if let count = metrics.bodyByteCount { parts.append("\(Diagnostics.formatted(byteCount: count)) of data") }
        if let wire = metrics.wireByteCount, wire != metrics.bodyByteCount {
            parts.append("\(Diagnostics.formatted(byteCount: wire)) over the wire")
        }
        if metrics.resumedByteCount > 0 {
            parts.append("\(Diagnostics.formatted(byteCount: metrics.resumedByteCount)) of an earlier transfer")
        }
        if let cache = metrics.cacheType { parts.append("from the \(cache) cache") }
        if let key = metrics.dataCacheKey { parts.append("key \(key)") }
        return parts.joined(separator: ", ")
    }

    private func row(_ cells: [String], _ step: String) -> String {
        "  " + cells.map { String(repeating: " ", count: max(0, 10 - $0.count)) + $0 }.joined(separator: " ") + "  "
            + step
    }

    private func milliseconds(_ seconds: Double) -> String { "\((seconds * 1e4).rounded() / 10)" }
}
