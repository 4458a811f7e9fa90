import FoundationEssentials
import NukeKit
import Synchronization

/// W1, W8, W9: a picture from memory to RGBA8, at a longer side where one is given; a line "<cpu ms> <wall ms>" a pass, after
/// one uncounted.
enum DecodePass {
    static func run(path: String, passes: Int, longerSide: Double? = nil) throws {
        NukeKit.install()
        let data = try Data(contentsOf: URL(filePath: path))
        var request = ImageRequest(url: nil)
        if let longerSide {
            let size = ImageSize(width: longerSide, height: longerSide)
            request.processors = [.resize(size: size, unit: .pixels, contentMode: .aspectFit, upscale: true)]
        }
        let context = ImageDecodingContext(request: request, data: data)
        for pass in 0...passes {
            let (cpu, wall) = (Clock.cpu, Clock.wall)
            guard let decoder = ImageDecoderRegistry.shared.decoder(for: context) else {
                throw ImageDecodingError.unknown
            }
            let image = try decoder.decode(data).image
            if pass > 0 { print(Clock.cpu - cpu, Clock.wall - wall) }
            withExtendedLifetime(image) {}
        }
    }
}

/// W7: all frames of an animation from memory to RGBA8, one after the other; a line "<cpu ms> <wall ms>" a pass likewise.
enum FramesPass {
    static func run(path: String, passes: Int) async throws {
        NukeKit.install()
        let data = try Data(contentsOf: URL(filePath: path))
        let context = ImageDecodingContext(request: ImageRequest(url: nil), data: data)
        for pass in 0...passes {
            let (cpu, wall) = (Clock.cpu, Clock.wall)
            let decoder = ImageDecoderRegistry.shared.decoder(for: context)
            guard let animation = try decoder?.decode(data).animation else { throw ImageDecodingError.unknown }
            for index in 0..<animation.frameCount { _ = try animation.decodeFrame(at: index) }
            if pass > 0 { print(Clock.cpu - cpu, Clock.wall - wall) }
        }
    }
}

/// W10: small files over HTTP through the pipeline as data, so many at once; prints "<cpu ms> <wall ms>".
///
/// The loader has so many connections. Four times as many workers take one file after the other, so that no connection waits for
/// the pipeline.
enum HTTPPass {
    static func run(base: String, count: Int, concurrency: Int) async throws {
        let (cpu, wall) = (Clock.cpu, Clock.wall)
        var loaderConfiguration = CurlLoader.Configuration()
        loaderConfiguration.maximumConnectionsPerHost = concurrency
        var configuration = ImagePipeline.Configuration(dataLoader: CurlLoader(configuration: loaderConfiguration))
        configuration.dataLoadingQueue = TaskQueue(maxConcurrentOperationCount: 16 * concurrency)
        let pipeline = ImagePipeline(configuration: configuration)
        let (bytes, next) = (Total(), Total())
        try await withThrowingDiscardingTaskGroup { group in
            for _ in 0..<4 * concurrency {
                group.addTask {
                    while case let index = next.add(1), index < count {
                        let name = String(repeating: "0", count: 4 - "\(index)".count) + "\(index).jpg"
                        let request = ImageRequest(url: URL(string: "\(base)/\(name)"))
                        bytes.add(try await pipeline.data(for: request).0.count)
                    }
                }
            }
        }
        print(Clock.cpu - cpu, Clock.wall - wall)
        guard bytes.value > count * 1000 else { throw DataLoadingError.badURL }
    }
}

private final class Total: Sendable {
    private let sum = Atomic(0)

    var value: Int { sum.load(ordering: .relaxed) }

    /// Returns what it was before.
    @discardableResult
    func add(_ count: Int) -> Int { sum.wrappingAdd(count, ordering: .relaxed).oldValue }
}

/// W11 and W13: hits of the memory cache, by its own call and through the pipeline; lines "<name> <ns> <cpu ns>".
enum HitPass {
    static func run() async throws {
        let cache = ImageCache(costLimit: .max)
        guard let buffer = PixelBuffer(width: 8, height: 8) else { return }
        let image = buffer.freeze()
        let urls = (0..<1000).map { URL(string: "https://images.example.com/photos/2026/11/picture-\(1000 + $0).jpg") }
        let keys = urls.map { ImageCacheKey(request: ImageRequest(url: $0)) }
        for key in keys { cache[key] = ImageContainer(image: image) }
        let count = 2_000_000
        time("cache-hit", count) {
            for index in 0..<count { precondition(cache[keys[(index &* 7919) % 1000]] != nil) }
        }
        await timeTwoThreads("cache-hit-2t", count) { offset in
            for index in 0..<count { precondition(cache[keys[(index &* 7919 &+ offset) % 1000]] != nil) }
        }
        await ThreadComparison.run { index, offset in
            precondition(cache[keys[(index &* 7919 &+ offset) % 1000]] != nil)
        }
        let pipeline = ImagePipeline { $0.imageCache = cache }
        let requests = urls.map { ImageRequest(url: $0) }
        let (cpu, wall) = (Clock.cpu, Clock.wall)
        let hits = 300_000
        for index in 0..<hits { _ = try await pipeline.image(for: requests[(index &* 7919) % 1000]) }
        report("image-for-hit", hits, cpu, wall)
        time("pipeline-cache", hits) {
            for index in 0..<hits { precondition(pipeline.cache[requests[(index &* 7919) % 1000]] != nil) }
        }
    }

    private static func time(_ name: String, _ count: Int, _ body: () -> Void) {
        body()
        let (cpu, wall) = (Clock.cpu, Clock.wall)
        body()
        report(name, count, cpu, wall)
    }

    private static func timeTwoThreads(_ name: String, _ count: Int, _ body: @escaping @Sendable (Int) -> Void) async {
        let threads = CodecThreads(name: "bench", count: 2)
        let (cpu, wall) = (Clock.cpu, Clock.wall)
        await withTaskGroup(of: Void.self) { group in
            for offset in [0, 501] { group.addTask { await threads.run { body(offset) } } }
        }
        report(name, 2 * count, cpu, wall)
    }

    static func report(_ name: String, _ count: Int, _ cpu: Double, _ wall: Double) {
        print(name, (Clock.wall - wall) * 1e6 / Double(count), (Clock.cpu - cpu) * 1e6 / Double(count))
    }
}
