import NukeKit

/// `nuke cache stats` and `nuke cache clear`.
struct CacheCommand: Sendable {
    private let arguments: Arguments

    init(_ arguments: Arguments) { self.arguments = arguments }

    func run() async -> ExitStatus {
        do throws(UsageError) {
            guard arguments.operands.count == 1, let verb = arguments.operands.first, ["stats", "clear"].contains(verb)
            else { throw UsageError(message: "cache wants one of stats and clear") }
            guard let cache = try CommandPipeline.cache(arguments, isNeeded: true) else { return .failure }
            let writesJSON = arguments.has(.json)
            await CodecThreads.disk.run {
                if verb == "clear" { Self.clear(cache) }
                Self.tell(cache, asJSON: writesJSON)
            }
            return .success
        } catch {
            Terminal.writeError("nuke: \(error.message)\nTry `nuke --help`.\n")
            return .usage
        }
    }

    private static func clear(_ cache: DataCache) {
        cache.removeAll()
        cache.flush()
    }

    private static func tell(_ cache: DataCache, asJSON: Bool) {
        let (count, size, allocated) = (cache.totalCount, cache.totalSize, cache.totalAllocatedSize)
        var line = JSONLine()
        line.add("path", .text(cache.path))
        line.add("entries", .integer(count))
        line.add("bytes", .integer(size))
        line.add("allocatedBytes", .integer(allocated))
        line.add("limit", .integer(cache.sizeLimit))
        if asJSON { return Terminal.write(line.text + "\n") }
        Terminal.write("\(cache.path): \(count) entries, \(size) bytes (\(allocated) on disk) of \(cache.sizeLimit)\n")
    }
}
