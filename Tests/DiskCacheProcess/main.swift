// DiskCacheProcess TASK FOLDER: one task on a cache in a process of its own. Ends with 0 if what it checks holds.
import FoundationEssentials
import Glibc
import NukeCore
import NukeDiskCache
import NukeTestSupport

let arguments = CommandLine.arguments
guard arguments.count == 3 else {
    print("usage: DiskCacheProcess TASK FOLDER")
    exit(2)
}
let folder = arguments[2]

// A process inherits the signals that its parent ignores and blocks, and threads of test runners block all of them.
var signals = sigset_t()
sigfillset(&signals)
pthread_sigmask(SIG_UNBLOCK, &signals, nil)
signal(SIGXFSZ, SIG_DFL)
// Nobody waits for ever for a process whose parent was killed.
alarm(300)

func check(_ condition: Bool, _ message: String, line: Int = #line) {
    if condition { return }
    print("line \(line): \(message)")
    exit(1)
}

/// Tells the parent that something was done.
func tick() { _ = write(1, ".", 1) }

/// Stores without end, a byte on standard output after every round, until it is killed.
func storeUntilKilled() throws {
    let cache = try DataCache(path: folder)
    cache.sizeLimit = 1 << 20
    var number = UInt64(getpid()) << 32
    for round in 1... {
        for index in 0..<40 {
            number += 1
            cache.storeData(SignedValue.data(key: "key \(index)", number: number), for: "key \(index)")
            if number % 23 == 0 { cache.removeData(for: "key \(index / 2)") }
        }
        if round % 3 == 0 { cache.flush() }
        tick()
    }
}

/// Stores, reads, removes and sweeps beside other processes; whatever is read has to be whole.
func shareFolder() throws {
    let cache = try DataCache(path: folder)
    cache.sizeLimit = 600_000
    var number = UInt64(getpid()) << 32
    for round in 0..<600 {
        let key = "key \((round &* 31 &+ Int(getpid())) % 40)"
        number += 1
        cache.storeData(SignedValue.data(key: key, number: number), for: key)
        if round % 50 == 49 { cache.flush() }
        if round % 97 == 96 { cache.sweep() }
        let other = "key \((round &* 17) % 40)"
        if let data = cache.cachedData(for: other) {
            check(SignedValue.number(of: data, key: other) != nil, "\(other) has \(data.count) bytes nobody stored")
        }
    }
    cache.flush()
    check(cache.failureCount == 0, "\(cache.lastError.map { "\($0)" } ?? "")")
}

/// Files may not grow beyond 64 KB: a larger entry is a failure, and nothing else.
func hitFileSizeLimit() throws {
    var limit = rlimit(rlim_cur: 65_536, rlim_max: 1 << 40)
    check(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0, "no limit set")
    let cache = try DataCache(path: folder)
    cache.storeData(SignedValue.data(key: "small", number: 1), for: "small")
    cache.storeData(SignedValue.data(key: "replaced", number: 1), for: "replaced")
    cache.flush()
    check(cache.totalCount == 2 && cache.failureCount == 0, "small entries are written")
    cache.storeData(Data(count: 100_000), for: "large")
    cache.storeData(Data(count: 100_000), for: "replaced")
    cache.flush()
    check(cache.failureCount == 2, "\(cache.failureCount) failures")
    check(cache.lastError?.code == .writeFailed, "\(cache.lastError.map { "\($0)" } ?? "no error")")
    check(cache.cachedData(for: "large") == nil, "large data is gone")
    check(cache.cachedData(for: "replaced") == nil, "no value is better than the one before")
    check(cache.totalCount == 1, "nothing half written stays as an entry")
    cache.storeData(SignedValue.data(key: "after", number: 2), for: "after")
    cache.flush()
    check(cache.cachedData(for: "after") == SignedValue.data(key: "after", number: 2), "the cache goes on")
}

/// Nothing can be written: reads go on, and failures are counted.
func useReadOnlyFolder() throws {
    if getuid() == 0 {
        // Root may write everywhere.
        check(chown(folder, 65_534, 65_534) == 0 && setgid(65_534) == 0 && setuid(65_534) == 0, "still root")
    }
    let cache = try DataCache(path: folder)
    let (kept, shut) = (SignedValue.data(key: "kept", number: 1), SignedValue.data(key: "shut", number: 2))
    cache.storeData(kept, for: "kept")
    cache.storeData(shut, for: "shut")
    cache.flush()
    guard let path = cache.path(for: "kept"), let shutPath = cache.path(for: "shut") else { exit(1) }
    let shard = String(path.prefix(path.utf8.count - 63))
    check(chmod(shard, 0o500) == 0 && chmod(folder, 0o500) == 0 && chmod(shutPath, 0) == 0, "chmod")
    check(cache.cachedData(for: "kept") == kept, "reads go on")
    cache.storeData(Data([1]), for: "kept")
    cache.flush()
    check(cache.failureCount == 1 && cache.lastError?.code == .writeFailed, "\(cache.failureCount)")
    let count = cache.failureCount
    check(cache.cachedData(for: "shut") == nil, "an unreadable file is a miss")
    check(cache.failureCount == count + 1 && cache.lastError?.code == .readFailed, "a miss with a reason")
    cache.storeData(Data([1]), for: "somewhere else")
    cache.removeAll()
    cache.flush()
    check(cache.failureCount > count + 1, "failures are counted")
    check((try? DataCache(path: folder + "/below")) == nil, "no folder can be made")
    check(chmod(folder, 0o700) == 0 && chmod(shard, 0o700) == 0, "chmod back")
}

/// The environment names no place: the configuration has no disk cache.
func findNoPlace() {
    check(ImagePipeline.Configuration.withDataCache.dataCache == nil, "a cache without a place")
    check(ImagePipeline.Configuration.withDataCache(name: "other").dataCache == nil, "a cache without a place")
}

/// The parent looks at the folders.
func makeConfigurations() throws {
    let standard = ImagePipeline.Configuration.withDataCache.dataCache as? DataCache
    check(standard?.path == folder + "/org.nuke.DataCache", standard?.path ?? "no cache")
    check(standard?.sizeLimit == 157_286_400, "150 MB")
    let configuration: ImagePipeline.Configuration = .withDataCache(name: "org.example.app", sizeLimit: 500 << 20)
    let cache = configuration.dataCache as? DataCache
    check(cache?.path == folder + "/org.example.app", cache?.path ?? "no cache")
    check(cache?.sizeLimit == 500 << 20, "500 MB")
    check(configuration.dataLoader == nil, "loaders come from the registry")
    check(ImagePipeline.Configuration().dataCache == nil, "nothing goes to disk before somebody asks")
}

/// Leaves what waits to the thread of the cache: the cache has to live until it is written.
func letGo() throws {
    for number in 0..<200 {
        try DataCache(path: folder).storeData(SignedValue.data(key: "\(number)", number: 5), for: "\(number)")
    }
    // A cache of its own sees an entry once its writer is done; the test's time limit ends this if one never comes.
    let cache = try DataCache(path: folder)
    for number in 0..<200 {
        while cache.cachedData(for: "\(number)") == nil { sched_yield() }
    }
    // And with the caches their threads end; `cache` has written nothing, so it has none.
    while cacheThreadCount() > 0 { sched_yield() }
}

/// The threads of this process that are named as those of a cache.
func cacheThreadCount() -> Int {
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    return tasks.count { task in
        // A thread that ends meanwhile has no name.
        let name = (try? File.read("/proc/self/task/\(task)/comm")) ?? Data()
        return name.starts(with: Array("nuke-cache".utf8))
    }
}

switch arguments[1] {
case "store": try storeUntilKilled()
case "share": try shareFolder()
case "limit": try hitFileSizeLimit()
case "read-only": try useReadOnlyFolder()
case "no-place": findNoPlace()
case "configuration": try makeConfigurations()
case "let-go": try letGo()
default: exit(2)
}
