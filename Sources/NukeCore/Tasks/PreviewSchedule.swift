/// When to ask for the preview policy of a download, and when a preview is due.
struct PreviewSchedule {
    /// How often the policy is asked at most.
    static let maximumEvaluationCount = 6
    /// Bytes that must have come since the last time, beside the double of what there was then.
    static let minimumGrowth = 256

    /// Seconds from one preview to the next.
    let interval: Double
    /// The answer that counts so far.
    private(set) var policy = ImagePipeline.PreviewPolicy.disabled
    private var evaluationCount = 0
    private var evaluatedByteCount = 0
    private var lastPreview: Double?

    init(interval: Double) { self.interval = interval }

    /// Whether to ask for the policy, now that so many bytes have come.
    func needsPolicy(byteCount: Int) -> Bool {
        guard policy == .disabled, evaluationCount < Self.maximumEvaluationCount else { return false }
        return evaluationCount == 0
            || byteCount >= max(2 * evaluatedByteCount, evaluatedByteCount + Self.minimumGrowth)
    }

    /// Takes the answer; one other than `disabled` holds to the end.
    mutating func resolve(_ policy: ImagePipeline.PreviewPolicy, byteCount: Int) {
        self.policy = policy
        evaluationCount += 1
        evaluatedByteCount = byteCount
    }

    /// Whether a preview may be decoded at this time.
    func isDue(at time: Double) -> Bool {
        guard let lastPreview else { return policy != .disabled }
        return policy == .incremental && time - lastPreview >= interval
    }

    /// A preview was made.
    mutating func previewed(at time: Double) { lastPreview = time }

    /// Whether there will be no preview any more.
    var isOver: Bool {
        switch policy {
        case .incremental: false
        case .thumbnail: lastPreview != nil
        case .disabled: evaluationCount == Self.maximumEvaluationCount
        }
    }
}
