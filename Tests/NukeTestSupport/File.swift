public import FoundationEssentials
import Glibc

/// Files for tests, read by hand.
///
/// `Data(contentsOf:)` leaks a page where a file is empty, which LeakSanitizer reports, and takes files of /proc for empty.
public enum File {
    /// A file that can't be read.
    public struct Unreadable: Error {
        /// The path.
        public let path: String
    }

    /// The bytes of a file.
    public static func read(_ path: String) throws -> Data {
        guard let file = fopen(path, "r") else { throw Unreadable(path: path) }
        defer { fclose(file) }
        var bytes = Data()
        var block = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = fread(&block, 1, block.count, file), count > 0 {
            bytes.append(contentsOf: block.prefix(count))
        }
        return bytes
    }
}
