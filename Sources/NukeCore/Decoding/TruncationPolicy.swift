/// What becomes of a picture of which data is lacking.
public enum TruncationPolicy: Sendable, Hashable {
    /// It is an error: `truncated`.
    case strict
    /// What is there is shown, marked by `ImageContainer.UserInfoKey.isTruncatedKey`, where the decoder can do so.
    case lenient
}
