internal import CNukeCore
internal import Synchronization

/// Tells which of two uses came later: values grow from one call of a thread to its next, and with time between threads.
///
/// On x86 it is the processor's time stamp counter, as threads that count up one number together hold each other up. That
/// of other processors may be too slow to tell two hits apart; there it is such a number.
enum UseClock {
    #if arch(x86_64)
        static var now: UInt64 { CNukeCore_timeStamp() }
    #else
        private static let last = Atomic<UInt64>(0)

        static var now: UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
    #endif
}
