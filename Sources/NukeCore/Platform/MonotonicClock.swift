internal import Glibc

/// Seconds on a clock that never goes back.
enum MonotonicClock {
    static var now: Double {
        var time = timespec()
        // SAFETY: the struct outlives the call, which fills it.
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
