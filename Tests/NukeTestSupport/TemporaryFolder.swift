public import FoundationEssentials

/// A folder of a test's own, removed with its last reference.
public final class TemporaryFolder: Sendable {
    /// The absolute path.
    public let path: String

    /// Makes an empty folder.
    public init() throws {
        path = FileManager.default.temporaryDirectory.path + "/nuke-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of a file in it.
    public func file(_ name: String) -> String { path + "/" + name }

    /// The names of what is in it, sorted, hidden files too.
    public var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

    /// The bytes of a file in it.
    public func data(_ name: String) throws -> Data { try File.read(file(name)) }
}

extension Data {
    /// Whether the bytes of a text stand somewhere within.
    public func contains(text: String) -> Bool {
        let wanted = Array(text.utf8)
        return indices.contains { self[$0...].starts(with: wanted) }
    }
}
