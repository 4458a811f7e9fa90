import Dispatch
import Glibc

/// Ends the program on SIGINT and SIGTERM without leaving a file half-written.
enum Interruption {
    // SAFETY: written by `install` only, once, before any other thread runs.
    nonisolated(unsafe) private static var sources: [any DispatchSourceSignal] = []

    /// To be called once, before work starts.
    static func install() {
        for number in [SIGINT, SIGTERM] {
            // SAFETY: the default action is replaced by the source's handler; `sources` is written here only, once, before
            // any other thread runs.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global(qos: .userInteractive))
            source.setEventHandler {
                OutputFile.removeUnfinished()
                Terminal.writeError("\n")
                _exit(128 + number)
            }
            source.resume()
            unsafe sources.append(source)
        }
    }
}
