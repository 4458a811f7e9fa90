internal import Glibc

/// The stream for messages.
enum StandardError {
    /// Writes a text with one call, so that lines of several threads do not mix.
    static func write(_ text: String) {
        let bytes = Array(text.utf8)
        // SAFETY: the buffer outlives the call, which reads no more than its count.
        unsafe bytes.withUnsafeBytes { _ = unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
