import FoundationEssentials
import Glibc
import Testing

/// A new folder, removed with its last use.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        let parent = FileManager.default.temporaryDirectory.path(percentEncoded: false)
        path = (parent.hasSuffix("/") ? parent : parent + "/") + "nuke-disk-cache-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Every file below the folder, by path within it.
    func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path).filter { !isFolder($0) }
    }

    private func isFolder(_ file: String) -> Bool {
        var status = stat()
        return stat(path + "/" + file, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}

/// The bytes of a file.
func contents(_ path: String?) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: #require(path)))) }

/// Replaces the bytes of a file.
func overwrite(_ path: String?, _ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(filePath: #require(path))) }

/// The permission bits of a file or folder.
func permissions(_ path: String?) throws -> UInt32 {
    var status = stat()
    try #require(stat(#require(path), &status) == 0)
    return status.st_mode & 0o7777
}
