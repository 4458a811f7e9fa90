/// A promise of a protocol that an implementation does not keep.
///
/// The suites return violations instead of failing, so that any test framework serves: expect the list to be empty.
public struct ConformanceViolation: Sendable, CustomStringConvertible {
    /// The name of the check.
    public let check: String
    /// What was seen, and on which input.
    public let message: String

    /// Creates a violation.
    public init(check: String, message: String) {
        self.check = check
        self.message = message
    }

    /// Check and message on a line.
    public var description: String { "\(check): \(message)" }
}
