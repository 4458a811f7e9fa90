import FoundationEssentials
import NukeKit

/// A cold load's own cost: sequential loads that miss the cache, of a loader that answers at once and a decoder that has
/// next to nothing to do; lines "<name> <ns wall> <ns cpu>".
///
/// Such a decoder says that it needs no codec thread; `cold-load-codec-thread` is what it costs where it does not say so:
/// two threads are woken for each load.
enum ColdPass {
    @concurrent
    static func run(count: Int = 10_000) async throws {
        try await run("cold-load", count, isAsynchronous: false)
        try await run("cold-load-codec-thread", count, isAsynchronous: true)
    }

    @concurrent
    private static func run(_ name: String, _ count: Int, isAsynchronous: Bool) async throws {
        guard let buffer = PixelBuffer(width: 8, height: 8) else { return }
        let registry = ImageDecoderRegistry()
        let decoder = TrivialDecoder(image: buffer.freeze(), isAsynchronous: isAsynchronous)
        registry.register { _ in decoder }
        let pipeline = ImagePipeline { configuration in
            configuration.dataLoader = TrivialLoader()
            configuration.decoderRegistry = registry
            configuration.imageCache = ImageCache(costLimit: .max)
        }
        for part in ["warm-up", name] {
            let requests = (0..<count).map { index in
                ImageRequest(url: URL(string: "https://images.example.com/\(part)/picture-\(index).jpg"))
            }
            let (cpu, wall) = (Clock.cpu, Clock.wall)
            for request in requests { _ = try await pipeline.image(for: request) }
            if part == name { HitPass.report(part, count, cpu, wall) }
        }
    }
}

/// Answers every load with the same bytes before it returns.
private final class TrivialLoader: DataLoading {
    private final class Transfer: Cancellable {
        func cancel() {}
    }

    private let body = Data(repeating: 1, count: 1000)
    private let transfer = Transfer()

    func loadData(
        with request: DataRequest, didReceiveData: @escaping @Sendable (Data, DataResponse) -> Void,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) -> any Cancellable {
        didReceiveData(body, DataResponse(url: request.url, statusCode: 200, expectedContentLength: 1000))
        completion(nil)
        return transfer
    }
}

/// Has its image ready.
private struct TrivialDecoder: ImageDecoding {
    let image: Bitmap
    let isAsynchronous: Bool

    func decode(_ data: Data) throws -> ImageContainer { ImageContainer(image: image) }
}

/// Memory under load: different JPEGs of 100 megapixels, all loaded at once, under a memory budget.
///
/// Prints how many came, how many failed for want of memory, and the peak of the process in megabytes.
enum BudgetPass {
    static func run(folder: String, megabytes: Int, count: Int) async throws {
        let files = try await makeFiles(in: folder, count: count)
        let pipeline = ImagePipeline { configuration in
            configuration.memoryBudget = megabytes * 1_000_000
            configuration.decoderRegistry = ImageDecoderRegistry()
            configuration.decoderRegistry.register(.jpeg)
            configuration.imageCache = nil
        }
        let outcomes = await withTaskGroup(of: Outcome.self) { group in
            for file in files { group.addTask { await load(file, with: pipeline) } }
            return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        let names = outcomes.map { "\($0.key.rawValue) \($0.value)" }.sorted().joined(separator: ", ")
        print("budget \(megabytes) MB: \(names); peak \(Clock.peak) MB")
    }

    private enum Outcome: String { case loaded, exceeded, failed }

    private static func load(_ file: URL, with pipeline: ImagePipeline) async -> Outcome {
        do throws(ImagePipeline.Error) {
            let image = try await pipeline.image(for: file)
            // Read at four points, each of which another file has other colours at.
            let points = [(0, 0), (9_999, 0), (0, 9_999), (5_000, 5_000)].map { x, y in
                image.row(y).unsafeLoad(fromByteOffset: x * 4, as: UInt32.self)
            }
            return image.width == 10_000 && image.height == 10_000 && Set(points).count > 1 ? .loaded : .failed
        } catch {
            guard case .decodingFailed(_, _, let reason as ImageDecodingError) = error else { return .failed }
            return reason.code == .limitExceeded ? .exceeded : .failed
        }
    }

    /// Made by a process of its own, as making them takes more memory than loading them.
    private static func makeFiles(in folder: String, count: Int) async throws -> [URL] {
        let files = (0..<count).map { URL(filePath: "\(folder)/large-\($0).jpg") }
        if !FileManager.default.fileExists(atPath: files[count - 1].path) {
            _ = try Spawn.run([CommandLine.arguments[0], "large", folder, "\(count)"])
        }
        return files
    }

    /// Writes pictures of rectangles whose places, sizes and colours the number of the picture decides.
    static func writeFiles(in folder: String, count: Int) throws {
        guard let encoder = ImageFormat.jpeg.makeEncoder?(ImageEncodingOptions(quality: 0.8)) else {
            throw ImageEncodingError.encoderNotRegistered("no JPEG encoder")
        }
        for index in 0..<count {
            guard var buffer = PixelBuffer(width: 10_000, height: 10_000) else { throw ImageDecodingError.unknown }
            var random = UInt32(index + 1)
            func next(_ limit: Int) -> Int {
                random = random &* 1_664_525 &+ 1_013_904_223
                return Int(random >> 8) % limit
            }
            for _ in 0..<300 {
                let (left, top) = (next(10_000), next(10_000))
                let (right, bottom) = (min(10_000, left + 100 + next(3_000)), min(10_000, top + 100 + next(3_000)))
                let color = UInt32(truncatingIfNeeded: next(1 << 24)) | 0xFF00_0000
                for y in top..<bottom {
                    buffer.withRow(y) { row in
                        for x in left..<right { row.storeBytes(of: color, toByteOffset: x * 4, as: UInt32.self) }
                    }
                }
            }
            let image = buffer.freeze(isOpaque: true)
            let context = ImageEncodingContext(request: ImageRequest(url: nil), image: image)
            try encoder.encodedData(for: ImageContainer(image: image), context: context)
                .write(to: URL(filePath: "\(folder)/large-\(index).jpg"))
        }
    }
}
