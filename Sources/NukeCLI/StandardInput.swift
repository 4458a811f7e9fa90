import FoundationEssentials
import Glibc
import NukeCore

/// Reads standard input, and lists from files.
enum StandardInput {
    /// Bytes taken at most; the pipeline's own limit is lower as a rule.
    private static let limit = 1 << 30

    /// Everything until the end.
    static func read() throws(DataLoadingError) -> Data { try read(STDIN_FILENO, name: "standard input") }

    /// The lines of a file that are not empty; `-` is standard input.
    static func lines(of path: String) throws(DataLoadingError) -> [String] {
        var data: Data
        if path == "-" {
            data = try read()
        } else {
            // SAFETY: open only reads the path's bytes.
            let descriptor = unsafe path.withCString { unsafe open($0, O_RDONLY | O_CLOEXEC) }
            guard descriptor >= 0 else {
                throw errno == ENOENT ? .fileNotFound(path) : .fileUnreadable(path, reason: ErrorText.of(errno))
            }
            defer { close(descriptor) }
            data = try read(descriptor, name: path)
        }
        return data.split { $0 == UInt8(ascii: "\n") }
            .map { line in String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self) }
            .filter { !$0.isEmpty }
    }

    private static func read(_ descriptor: Int32, name: String) throws(DataLoadingError) -> Data {
        var data = Data()
        var block = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            // SAFETY: reads into the block, at most as many bytes as it has.
            let count = unsafe block.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return data }
            if count < 0 {
                if errno == EINTR { continue }
                throw .fileUnreadable(name, reason: ErrorText.of(errno))
            }
            data.append(contentsOf: block.prefix(count))
            if data.count > limit { throw .exceededMaximumSize(limit) }
        }
    }
}

/// The words of the C library for an error number.
enum ErrorText {
    static func of(_ code: Int32) -> String {
        // SAFETY: strerror's text is copied at once.
        unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    }
}
