import Glibc

/// What is mapped into this process.
public enum Maps {
    /// The text of the kernel's list of mappings, read to its end by hand, as the file says that it is empty.
    public static var text: String {
        guard let file = fopen("/proc/self/maps", "r") else { return "" }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 4096)
        while case let count = fread(&block, 1, block.count, file), count > 0 { bytes += block.prefix(count) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Ends the process with a word on what is wrong: something is mapped that should not be, or is not that should.
    public static func check(has wanted: [String], lacks unwanted: [String]) {
        let maps = text
        let missing = wanted.filter { !maps.contains($0) }
        let found = unwanted.filter { maps.contains($0) }
        guard missing.isEmpty, found.isEmpty else {
            print("mapped: \(found), not mapped: \(missing)")
            exit(1)
        }
    }
}
