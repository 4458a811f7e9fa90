/// Why a disk cache can't be opened, or what went wrong while it was used.
///
/// Equality looks at the code, not at the words.
public struct DataCacheError: Error, Sendable {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind {
            case invalidName, noDirectory, directoryUnavailable, readFailed, writeFailed, removalFailed, entryDamaged
        }

        private let kind: Kind

        /// The name of a cache is not the name of a folder, or the path is not a path.
        public static var invalidName: Code { Code(kind: .invalidName) }
        /// The environment names no place for caches.
        public static var noDirectory: Code { Code(kind: .noDirectory) }
        /// The folder can't be made or listed.
        public static var directoryUnavailable: Code { Code(kind: .directoryUnavailable) }
        /// An entry is there and can't be read.
        public static var readFailed: Code { Code(kind: .readFailed) }
        /// An entry can't be written: the disk is full, or the folder is not ours to write.
        public static var writeFailed: Code { Code(kind: .writeFailed) }
        /// An entry can't be removed.
        public static var removalFailed: Code { Code(kind: .removalFailed) }
        /// A file is not the entry that its name says: torn, altered, or of another key.
        public static var entryDamaged: Code { Code(kind: .entryDamaged) }

        /// The name of the code.
        public var description: String { "\(kind)" }
    }

    /// The kind of failure.
    public let code: Code
    /// The file or folder; empty where there is none.
    public let path: String
    /// What happened; a clause without a full stop.
    public let reason: String

    init(_ code: Code, path: String = "", reason: String) {
        self.code = code
        self.path = path
        self.reason = reason
    }
}

extension DataCacheError: Hashable {
    /// Whether the codes are equal.
    public static func == (a: Self, b: Self) -> Bool { a.code == b.code }

    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension DataCacheError: CustomStringConvertible {
    /// The path, if there is one, and the reason.
    public var description: String { path.isEmpty ? reason : "\(path): \(reason)" }
}
