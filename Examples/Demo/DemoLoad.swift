import FoundationEssentials
import NukeKit
import NukeTestSupport

/// Loads every image three times: from the network, from the disk cache, and from memory.
struct DemoLoad {
    let origin: String
    let output: String

    /// A row of the table: what became of one image.
    struct Row: Sendable {
        let name: String
        var response: ImageResponse?
        var error: String?
        var stages = StageTimes.Stages()
        var total = 0.0
    }

    func run() async throws {
        NukeKit.install()
        // A good server never cuts a body short: this one announces more than it sends.
        let cut = try ScriptedServer { _ in
            let head = ScriptedServer.head(headers: [("Content-Length", "100000"), ("Content-Type", "image/jpeg")])
            return [.send(head + [UInt8](repeating: 0xFF, count: 5000)), .close]
        }
        let folder = output + "/cache"
        try? FileManager.default.removeItem(atPath: folder)
        let cache = try DataCache(path: folder)
        let urls =
            DemoImages.recipes.map { ($0.name, "\(origin)/\($0.name)") }
            + [("missing.jpg", "\(origin)/missing.jpg"), ("cut-short.jpg", cut.url("/cut-short.jpg"))]
        let network = await pass("From the network", urls, cache, imageCache: ImageCache())
        cache.flush()
        try await writeThumbnails(network)
        let memory = ImageCache()
        let disk = await pass("From the disk cache", urls, cache, imageCache: memory)
        let again = await pass("From memory", urls, cache, imageCache: memory)
        try check(network, nil)
        try check(disk, .disk)
        try check(again, .memory)
        print("Contact sheet: \(output)/contact-sheet.png")
    }

    /// Loads all images at once and prints the table.
    private func pass(
        _ title: String, _ urls: [(name: String, url: String)], _ cache: DataCache, imageCache: ImageCache
    ) async -> [Row] {
        let times = StageTimes()
        var configuration = ImagePipeline.Configuration()
        configuration.dataCache = cache
        configuration.imageCache = imageCache
        let pipeline = ImagePipeline(configuration: configuration, delegate: times)
        let rows = await withTaskGroup(of: (Int, Row).self) { group in
            for (index, entry) in urls.enumerated() {
                group.addTask { (index, await load(entry.name, entry.url, pipeline, times)) }
            }
            var rows: [(Int, Row)] = []
            for await row in group { rows.append(row) }
            return rows.sorted { $0.0 < $1.0 }.map(\.1)
        }
        await pipeline.finishDataStores()
        print("\n\(title)\n")
        print(DemoTable.text(rows))
        return rows
    }

    private func load(_ name: String, _ url: String, _ pipeline: ImagePipeline, _ times: StageTimes) async -> Row {
        var row = Row(name: name)
        let resize = TimedProcessor(ImageProcessors.Resize(width: 320), times: times, url: url)
        let request = ImageRequest(url: URL(string: url), processors: [resize])
        let start = ContinuousClock.now
        do { row.response = try await pipeline.imageTask(with: request).response } catch { row.error = "\(error)" }
        row.total = (ContinuousClock.now - start) / .milliseconds(1)
        row.stages = times.stages(of: url)
        return row
    }

    /// Writes each image that came, 320 pixels wide at most, and all of them on one sheet.
    private func writeThumbnails(_ rows: [Row]) async throws {
        let folder = output + "/thumbnails"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let images = rows.compactMap { row in row.response.map { (row.name, $0.image) } }
        try await CodecThreads.shared.run {
            for (name, image) in images {
                let format: ImageFormat = image.isOpaque ? .jpeg : .png
                let stem = name.split(separator: ".").first ?? "image"
                let suffix = name.hasSuffix("png") ? "-png" : ""
                let path = "\(folder)/\(stem)\(suffix).\(format.fileExtensions[0])"
                try DemoImages.encode(image, format, .init()).write(to: URL(filePath: path))
            }
            let sheet = ContactSheet.make(images.map(\.1))
            let data = try DemoImages.encode(sheet, .png, .init())
            try data.write(to: URL(filePath: output + "/contact-sheet.png"))
        }
    }

    /// Fails where a row is not what this demonstration promises.
    private func check(_ rows: [Row], _ cacheType: ImageResponse.CacheType?) throws {
        let loaded = rows.filter { $0.response != nil }
        let failed = rows.filter { $0.error != nil }.map(\.name)
        guard loaded.count == DemoImages.recipes.count, failed == ["missing.jpg", "cut-short.jpg"] else {
            throw DemoFailure("\(loaded.count) images were loaded, and these failed: \(failed)")
        }
        if let odd = loaded.first(where: { $0.response?.cacheType != cacheType }) {
            throw DemoFailure("\(odd.name) did not come from where it should")
        }
    }
}

/// The demonstration did not do what it promises.
struct DemoFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
