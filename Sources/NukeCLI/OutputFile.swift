import Glibc
import NukeCore

/// Files that appear whole: written under another name in the same folder, then renamed.
///
/// Names of files being written are known, so that an interrupted program leaves none behind.
enum OutputFile {
    /// Why a file could not be written.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private static let unfinished = Lock<Set<String>>([])
    private static let lastNumber = Lock(0)

    /// Writes a file; one that is there already is replaced if `force` is set, else kept, which is a failure.
    static func write(_ bytes: [UInt8], to path: String, force: Bool) throws(Failure) {
        let slash = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        let number = lastNumber.withLock { number in
            number += 1
            return number
        }
        let temporary = "\(path[..<slash]).nuke-\(getpid())-\(number).tmp"
        unfinished.withLock { _ = $0.insert(temporary) }
        defer { unfinished.withLock { _ = $0.remove(temporary) } }
        // SAFETY: the calls only read the paths' bytes; the descriptor is closed on every way out.
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw Failure(description: "cannot write \(path): \(ErrorText.of(errno))") }
        let isWritten = Terminal.write(bytes, to: descriptor)
        let writeError = errno
        let isClosed = close(descriptor) == 0
        guard isWritten, isClosed else {
            unsafe unlink(temporary)
            throw Failure(description: "cannot write \(path): \(ErrorText.of(isWritten ? errno : writeError))")
        }
        // A hard link fails where the name is taken; a rename replaces it.
        let status = force ? unsafe rename(temporary, path) : unsafe link(temporary, path)
        let renameError = errno
        if status != 0 || !force { unsafe unlink(temporary) }
        guard status == 0 else {
            let reason = renameError == EEXIST ? "it exists; --force replaces it" : ErrorText.of(renameError)
            throw Failure(description: "cannot write \(path): \(reason)")
        }
    }

    /// Removes what is being written.
    ///
    /// For the end of an interrupted program.
    static func removeUnfinished() {
        // SAFETY: unlink only reads the path's bytes.
        for path in unfinished.withLock({ $0 }) { unsafe unlink(path) }
    }

    /// Whether a path names a folder.
    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        // SAFETY: the struct outlives the call, which fills it.
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Makes a folder, with those above it, where there is none.
    static func makeFolder(_ path: String) throws(Failure) {
        if path.isEmpty || isFolder(path) { return }
        let trimmed = path.hasSuffix("/") ? String(path.dropLast()) : path
        if let slash = trimmed.lastIndex(of: "/"), slash > trimmed.startIndex {
            try makeFolder(String(trimmed[..<slash]))
        }
        // SAFETY: mkdir only reads the path's bytes.
        guard unsafe mkdir(trimmed, 0o777) == 0 || errno == EEXIST, isFolder(trimmed) else {
            throw Failure(description: "cannot make the folder \(path): \(ErrorText.of(errno))")
        }
    }
}
