import FoundationEssentials
import Glibc
import NukeCore
import Testing

@testable import NukeDiskCache

@Suite("DataCache: its folder", .serialized, .timeLimit(.minutes(5)))
struct DataCacheDirectoryTests {
    @Test("The folder is NUKE_CACHE_DIR, else below XDG_CACHE_HOME, else below HOME [DSK-01]")
    func environment() throws {
        func path(_ environment: [String: String]) throws -> String {
            try DataCacheDirectory.path(for: "org.example", environment: environment)
        }
        let all = ["NUKE_CACHE_DIR": "/n", "XDG_CACHE_HOME": "/x", "HOME": "/h"]
        #expect(try path(all) == "/n")
        #expect(try path(["NUKE_CACHE_DIR": "here", "HOME": "/h"]) == "here")
        #expect(try path(["XDG_CACHE_HOME": "/x", "HOME": "/h"]) == "/x/org.example")
        #expect(try path(["HOME": "/h"]) == "/h/.cache/org.example")
        #expect(
            try path(["NUKE_CACHE_DIR": "", "XDG_CACHE_HOME": "relative", "HOME": "/h"]) == "/h/.cache/org.example")
        #expect(throws: DataCacheError(.noDirectory, reason: "")) { try path([:]) }
        #expect(throws: DataCacheError(.noDirectory, reason: "")) { try path(["HOME": "relative"]) }
    }

    @Test("A name that is not the name of a folder is an error", arguments: ["", ".", "..", "a/b", "../a", "a\u{0}b"])
    func invalidNames(name: String) {
        #expect(throws: DataCacheError(.invalidName, reason: "")) {
            try DataCacheDirectory.path(for: name, environment: ["HOME": "/h"])
        }
        #expect(throws: DataCacheError(.invalidName, reason: "")) { try DataCache(name: name) }
    }

    @Test("A path that can't be a folder is an error that says why [DSK-01]")
    func invalidPaths() throws {
        #expect(throws: DataCacheError(.invalidName, reason: "")) { try DataCache(path: "") }
        #expect(throws: DataCacheError(.invalidName, reason: "")) { try DataCache(path: "/a\u{0}b") }
        let folder = try TemporaryFolder()
        let file = folder.path + "/file"
        try overwrite(file, [1])
        for path in [file, file + "/below", "/proc/none/below"] {
            let error = #expect(throws: DataCacheError.self) { try DataCache(path: path) }
            #expect(error?.code == .directoryUnavailable)
            #expect(error?.reason.isEmpty == false)
            #expect(error.map { "\($0)" }?.contains("/") == true)
        }
    }

    @Test("Folders above are made too, a slash at the end and a relative path are taken")
    func paths() throws {
        let folder = try TemporaryFolder()
        let cache = try DataCache(path: folder.path + "/a/b/c//")
        #expect(cache.path == folder.path + "/a/b/c")
        #expect(try permissions(folder.path + "/a") == 0o700)
        #expect(try permissions(folder.path + "/a/b/c") == 0o700)
        #expect(try DataCacheDirectory.absolutePath("a/b") == FileManager.default.currentDirectoryPath + "/a/b")
        #expect(try DataCacheDirectory.absolutePath("/") == "/")
    }

    @Test("Opening a cache lists nothing and leaves what is there")
    func reopening() throws {
        let folder = try TemporaryFolder()
        var cache = try DataCache(path: folder.path)
        for number in 0..<100 { cache["\(number)"] = Data([UInt8(number)]) }
        cache.flush()
        cache = try DataCache(path: folder.path)
        for number in 0..<100 { #expect(cache["\(number)"] == Data([UInt8(number)])) }
        #expect(try folder.files().count == 100)
    }

    @Test("Errors are equal by their codes and say their path")
    func errors() {
        let error = DataCacheError(.writeFailed, path: "/a/b", reason: "No space left on device")
        #expect("\(error)" == "/a/b: No space left on device")
        #expect("\(error.code)" == "writeFailed")
        #expect(error == DataCacheError(.writeFailed, reason: "other"))
        #expect(error != DataCacheError(.readFailed, path: "/a/b", reason: "No space left on device"))
        #expect(Set([error, DataCacheError(.writeFailed, reason: "other")]).count == 1)
    }
}
