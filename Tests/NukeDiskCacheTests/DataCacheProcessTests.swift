import DiskCacheProcess
import FoundationEssentials
import NukeCore
import Testing

@testable import NukeDiskCache

// Twenty processes in turn take their time where a sanitizer watches and others build.
@Suite("DataCache: other processes", .serialized, .timeLimit(.minutes(5)))
struct DataCacheProcessTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func expectSuccess(_ process: ChildProcess) {
        let output = process.readAll()
        #expect(process.wait() == 0, Comment(rawValue: output))
        #expect(output == "")
    }

    @Test(
        "Killed at any moment, a writer leaves whole entries only, and files aside that the next sweep takes [pitfall 94]"
    )
    func killedWriters() throws {
        var found = 0
        for round in 0..<20 {
            let process = try ChildProcess("store", folder.path)
            #expect(process.read(3 + round % 7))
            process.kill()
            #expect(process.wait() == -9)
            let cache = try DataCache(path: folder.path)
            for index in 0..<40 {
                guard let data = cache["key \(index)"] else { continue }
                found += 1
                #expect(SignedValue.number(of: data, key: "key \(index)") != nil, "round \(round), key \(index)")
            }
            #expect(cache.failureCount == 0)
            cache.sweep()
            #expect(try folder.files().filter { $0.contains(".writing") } == [])
        }
        #expect(found > 100)
    }

    @Test("Processes that share a folder read whole entries only [DSK-44] [pitfall 95]")
    func sharedFolder() throws {
        let processes = try (0..<3).map { _ in try ChildProcess("share", folder.path) }
        for process in processes { expectSuccess(process) }
        let cache = try DataCache(path: folder.path)
        var found = 0
        for index in 0..<40 {
            guard let data = cache["key \(index)"] else { continue }
            found += 1
            #expect(SignedValue.number(of: data, key: "key \(index)") != nil)
        }
        #expect(found > 0)
        #expect(try folder.files().count == cache.totalCount)
    }

    @Test(
        "Beyond the limit on the size of files a write fails, is counted, and the process lives [DSK-43] [pitfall 101]")
    func fileSizeLimit() throws { expectSuccess(try ChildProcess("limit", folder.path)) }

    @Test("In a folder that may not be written reads go on, and failures are counted [DSK-43]")
    func readOnlyFolder() throws { expectSuccess(try ChildProcess("read-only", folder.path)) }

    @Test("What waits to be written keeps its cache alive, and the threads end with it [DSK-23]")
    func letGo() throws { expectSuccess(try ChildProcess("let-go", folder.path)) }

    @Test("Where no cache can be opened the configuration has none, and standard error says so once [CFG-09]")
    func noPlace() throws {
        let process = try ChildProcess("no-place", folder.path)
        let output = process.readAll()
        #expect(process.wait() == 0)
        #expect(
            output == "nuke: images are not cached on disk: no place for a disk cache: set NUKE_CACHE_DIR, "
                + "XDG_CACHE_HOME or HOME\n")
    }

    @Test("The configuration's cache has the name and the limit asked for [CFG-07]")
    func configuration() throws {
        let process = try ChildProcess("configuration", folder.path, environment: ["XDG_CACHE_HOME": folder.path])
        expectSuccess(process)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.sorted() == ["org.example.app", "org.nuke.DataCache"])
    }
}
