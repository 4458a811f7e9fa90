import Glibc

/// Times of this process.
enum Clock {
    /// Milliseconds of CPU that all threads took.
    static var cpu: Double { read(CLOCK_PROCESS_CPUTIME_ID) }

    /// Milliseconds of CPU that the calling thread took.
    static var threadCPU: Double { read(CLOCK_THREAD_CPUTIME_ID) }

    /// Milliseconds on a clock that never goes back.
    static var wall: Double { read(CLOCK_MONOTONIC) }

    /// The most memory that this process has held so far (VmHWM), in megabytes of a million bytes.
    static var peak: Int {
        guard let file = fopen("/proc/self/status", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, file) != nil {
            let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                .split { $0 == " " || $0 == "\t" }
            if words.first == "VmHWM:", words.count > 1 { return (Int(words[1]) ?? 0) * 1024 / 1_000_000 }
        }
        return 0
    }

    private static func read(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) * 1e-6
    }
}
