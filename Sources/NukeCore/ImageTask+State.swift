extension ImageTask {
    /// What a task has come to, as older code asks for it.
    @available(*, deprecated, message: "Use status")
    public enum State: Sendable {
        /// Under way.
        case running
        /// Ended by cancellation, or about to.
        case cancelled
        /// Ended with an image or an error.
        case completed
    }

    /// What the task has come to; made of `status`.
    @available(*, deprecated, message: "Use status")
    public var state: State {
        let status = status
        switch status.result {
        case .none: return status.isCancelled ? .cancelled : .running
        case .failure(.cancelled): return .cancelled
        default: return .completed
        }
    }

    /// How many bytes have come; the same as `status.progress`.
    @available(*, deprecated, message: "Use status.progress")
    public var currentProgress: Progress { status.progress }
}
