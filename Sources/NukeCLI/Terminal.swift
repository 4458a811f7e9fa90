internal import Glibc

/// Standard output and error, and the process's end.
enum Terminal {
    /// Writes to standard output.
    static func write(_ text: String) { write(Array(text.utf8), to: STDOUT_FILENO) }

    /// Writes to standard error.
    static func writeError(_ text: String) { write(Array(text.utf8), to: STDERR_FILENO) }

    /// Writes all the bytes; false if the reader is gone or the disk is full.
    @discardableResult
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        // SAFETY: writes from within the array only.
        unsafe bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return true }
            var done = 0
            while done < buffer.count {
                let step = unsafe Glibc.write(descriptor, base + done, buffer.count - done)
                if step < 0 {
                    if errno == EINTR { continue }
                    return false
                }
                done += step
            }
            return true
        }
    }

    /// Whether standard error is a terminal that wants no plain text (`NO_COLOR`, https://no-color.org).
    static var showsProgress: Bool { isatty(STDERR_FILENO) == 1 && environment("NO_COLOR").isEmpty }

    /// Columns of the terminal; 80 if it does not tell.
    static var columns: Int {
        var size = winsize()
        // SAFETY: the struct outlives the call, which fills it.
        let status = unsafe ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size)
        return status == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    /// The value of an environment variable; empty if it is not set.
    static func environment(_ name: String) -> String {
        // SAFETY: getenv's text is copied at once, before anything can change the environment.
        unsafe getenv(name).map { unsafe String(cString: $0) } ?? ""
    }

    /// Makes a write to a closed pipe an error instead of the program's end.
    static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

    /// Ends the process at once.
    static func exit(_ status: Int32) -> Never { Glibc.exit(status) }
}
