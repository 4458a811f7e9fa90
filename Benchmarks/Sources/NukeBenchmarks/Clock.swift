import Glibc

/// Times of this process.
enum Clock {
    /// Milliseconds of CPU that all threads took.
    static var cpu: Double { read(CLOCK_PROCESS_CPUTIME_ID) }

    /// Milliseconds of CPU that the calling thread took.
    static var threadCPU: Double { read(CLOCK_THREAD_CPUTIME_ID) }

    /// Milliseconds on a clock that never goes back.
    static var wall: Double { read(CLOCK_MONOTONIC) }

    private static func read(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) * 1e-6
    }
}
