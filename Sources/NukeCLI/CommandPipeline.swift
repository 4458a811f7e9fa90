import NukeKit

/// The pipeline of a command, with the disk cache that the command line asks for.
struct CommandPipeline: Sendable {
    /// The pipeline.
    let pipeline: ImagePipeline
    private let cache: DataCache?

    init(_ arguments: Arguments, inputs: [Input], concurrency: Int) throws(UsageError) {
        // The cache is opened only where something may come of it: what is local is never stored.
        cache = inputs.contains(where: \.isRemote) ? try Self.cache(arguments, isNeeded: false) : nil
        var configuration = ImagePipeline.Configuration()
        configuration.imageCache = nil
        configuration.dataCache = cache
        configuration.dataLoadingQueue = TaskQueue(maxConcurrentOperationCount: concurrency)
        pipeline = ImagePipeline(configuration: configuration)
    }

    /// The disk cache that the command line names, or the usual one; nil with `--no-cache`.
    static func cache(_ arguments: Arguments, isNeeded: Bool) throws(UsageError) -> DataCache? {
        if arguments.has(.noCache) {
            guard !arguments.has(.cache) else { throw UsageError(message: "of --cache and --no-cache, one is enough") }
            return nil
        }
        do {
            if let path = arguments[.cache] { return try DataCache(path: path) }
            return try DataCache(name: "nuke")
        } catch {
            if isNeeded || arguments.has(.cache) { throw UsageError(message: "\(error)") }
            Terminal.writeError("nuke: no disk cache: \(error)\n")
            return nil
        }
    }

    /// Waits for what is still to be written to the cache.
    func finish() async {
        guard let cache else { return }
        await pipeline.finishDataStores()
        await CodecThreads.disk.run { cache.flush() }
    }
}
