import FoundationEssentials
import Glibc
import NukeCore

/// A cache in a table of SQLite, as somebody who has only this package's documentation writes it.
///
/// One connection, used by one thread at a time. The library is opened by its soname, so that no header is needed.
final class SQLiteCache: DataCaching {
    struct Failure: Error {
        let message: String
    }

    let path: String
    private let connection: Lock<Connection>

    init(path: String) throws {
        self.path = path
        guard let library = SQLite.shared else {
            throw Failure(message: "libsqlite3.so.0 is missing: install libsqlite3-0")
        }
        let connection = try Connection(library, path: path)
        // Written ahead, so that a transaction need not wait for the disk.
        try connection.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        try connection.run("CREATE TABLE IF NOT EXISTS entry (key BLOB PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID")
        self.connection = Lock(connection)
    }

    func cachedData(for key: String) -> Data? {
        connection.withLock { $0.query("SELECT data FROM entry WHERE key = ?", [Array(key.utf8)]).first }
    }

    func containsData(for key: String) -> Bool {
        connection.withLock { !$0.query("SELECT x'' FROM entry WHERE key = ?", [Array(key.utf8)]).isEmpty }
    }

    func storeData(_ data: Data, for key: String) {
        let values = [Array(key.utf8), Array(data)]
        _ = connection.withLock { $0.query("INSERT OR REPLACE INTO entry (key, data) VALUES (?, ?)", values) }
    }

    func removeData(for key: String) {
        _ = connection.withLock { $0.query("DELETE FROM entry WHERE key = ?", [Array(key.utf8)]) }
    }

    func removeAll() { _ = connection.withLock { $0.query("DELETE FROM entry", []) } }
}

/// An open database.
// SAFETY: used only under the lock of the cache.
private final class Connection: @unchecked Sendable {
    private let library: SQLite
    private var handle: OpaquePointer?

    init(_ library: SQLite, path: String) throws {
        self.library = library
        guard library.open(path, &handle) == 0 else { throw SQLiteCache.Failure(message: "can't open \(path)") }
    }

    deinit { _ = library.close(handle) }

    func run(_ statements: String) throws {
        guard library.exec(handle, statements, nil, nil, nil) == 0 else {
            throw SQLiteCache.Failure(message: "can't run \(statements)")
        }
    }

    /// The first column of every row.
    func query(_ text: String, _ values: [[UInt8]]) -> [Data] {
        var statement: OpaquePointer?
        guard library.prepare(handle, text, -1, &statement, nil) == 0 else { return [] }
        defer { _ = library.finalize(statement) }
        for (index, value) in values.enumerated() {
            // -1 has SQLite copy the bytes; without any it wants an address all the same.
            let bytes = value.isEmpty ? [0] : value
            guard library.bindBlob(statement, Int32(index + 1), bytes, Int32(value.count), -1) == 0 else { return [] }
        }
        var rows: [Data] = []
        while library.step(statement) == SQLite.row {
            let count = Int(library.columnBytes(statement, 0))
            rows.append(library.columnBlob(statement, 0).map { Data(bytes: $0, count: count) } ?? Data())
        }
        return rows
    }
}

/// The functions of libsqlite3 that the cache calls (https://sqlite.org/c3ref/intro.html).
private struct SQLite: Sendable {
    static let row: Int32 = 100
    static let shared = SQLite()

    let open: @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<OpaquePointer?>) -> Int32
    let close: @convention(c) (OpaquePointer?) -> Int32
    let exec:
        @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>, UnsafeRawPointer?, UnsafeRawPointer?, UnsafeRawPointer?
        ) -> Int32
    let prepare:
        @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>, Int32, UnsafeMutablePointer<OpaquePointer?>, UnsafeRawPointer?
        ) -> Int32
    let bindBlob: @convention(c) (OpaquePointer?, Int32, UnsafeRawPointer?, Int32, Int) -> Int32
    let step: @convention(c) (OpaquePointer?) -> Int32
    let columnBytes: @convention(c) (OpaquePointer?, Int32) -> Int32
    let columnBlob: @convention(c) (OpaquePointer?, Int32) -> UnsafeRawPointer?
    let finalize: @convention(c) (OpaquePointer?) -> Int32

    private init?() {
        guard let library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL) else { return nil }
        func function<Signature>(_ name: String, _ type: Signature.Type) -> Signature? {
            dlsym(library, "sqlite3_" + name).map { unsafeBitCast($0, to: type) }
        }
        guard let open = function("open", type(of: open)), let close = function("close_v2", type(of: close)),
            let exec = function("exec", type(of: exec)), let prepare = function("prepare_v2", type(of: prepare)),
            let bindBlob = function("bind_blob", type(of: bindBlob)), let step = function("step", type(of: step)),
            let columnBytes = function("column_bytes", type(of: columnBytes)),
            let columnBlob = function("column_blob", type(of: columnBlob)),
            let finalize = function("finalize", type(of: finalize))
        else { return nil }
        (self.open, self.close, self.exec, self.prepare) = (open, close, exec, prepare)
        (self.bindBlob, self.step, self.columnBytes) = (bindBlob, step, columnBytes)
        (self.columnBlob, self.finalize) = (columnBlob, finalize)
    }
}
