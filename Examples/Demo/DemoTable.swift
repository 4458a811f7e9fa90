import NukeKit

/// The table that the demonstration prints.
enum DemoTable {
    static func text(_ rows: [DemoLoad.Row]) -> String {
        let header = ["image", "original", "result", "loaded ms", "decoded ms", "resized ms", "total ms", "cache"]
        let cells = rows.map { row -> [String] in
            guard let response = row.response else { return [row.name, "failed: \(row.error ?? "")"] }
            let original = row.stages.originalSize.map { "\(Int($0.width))x\(Int($0.height))" } ?? "-"
            let cache =
                switch response.cacheType {
                case .memory: "memory"
                case .disk: "disk"
                case nil: "-"
                }
            return [
                row.name, original, "\(response.image.width)x\(response.image.height)",
                milliseconds(row.stages.loading),
                milliseconds(row.stages.decoding), milliseconds(row.stages.resizing), milliseconds(row.total), cache,
            ]
        }
        let widths = header.indices.map { column in
            ([header] + cells).filter { $0.count == header.count }.map { $0[column].count }.max() ?? 0
        }
        return ([header] + cells).map { row in
            row.enumerated().map { column, text in
                row.count == header.count
                    ? text + String(repeating: " ", count: widths[column] - text.count)
                    : text + String(repeating: " ", count: max(0, widths[column] - text.count))
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    private static func milliseconds(_ value: Double?) -> String {
        guard let value else { return "-" }
        return "\((value * 10).rounded() / 10)"
    }
}
