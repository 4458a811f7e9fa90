import NukeCore

/// What became of one input of `nuke load`.
struct LoadResult: Sendable {
    let index: Int
    let input: String
    var format: String?
    var size: ImageSize?
    var byteCount: Int?
    var cache: ImageResponse.CacheType?
    var milliseconds = 0.0
    var output: String?
    var error: String?
    /// Nil unless they were asked for.
    var metrics: ImageTask.Metrics?

    private var cacheName: String {
        switch cache {
        case .memory: "memory"
        case .disk: "disk"
        case nil: "none"
        }
    }

    /// A line for people.
    var line: String {
        let size = size.map { "\(Int($0.width))x\(Int($0.height))" } ?? ""
        let origin = cache == nil ? "" : ", from \(cacheName)"
        return "\(output ?? "-"): \(size) \(format ?? ""), \(byteCount ?? 0) bytes, \(Int(milliseconds)) ms\(origin)"
    }

    /// A line for programs.
    var json: JSONLine {
        var line = JSONLine()
        line.add("input", .text(input))
        line.add("ok", .flag(error == nil))
        line.add("format", .init(format))
        line.add("width", .init(size.map { Int($0.width) }))
        line.add("height", .init(size.map { Int($0.height) }))
        line.add("bytes", .init(byteCount))
        line.add("cache", error == nil ? .text(cacheName) : .null)
        line.add("milliseconds", .number(milliseconds))
        line.add("output", .init(output))
        line.add("error", .init(error))
        if let metrics { line.add("metrics", .object(MetricsTable(metrics: metrics).json)) }
        return line
    }
}
