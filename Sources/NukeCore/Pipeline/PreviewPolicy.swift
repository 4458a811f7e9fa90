extension ImagePipeline {
    /// What to show of an image while its data arrives.
    public enum PreviewPolicy: Sendable, Hashable {
        /// Everything that can be decoded so far, again and again.
        case incremental
        /// The embedded thumbnail, once.
        case thumbnail
        /// Nothing.
        case disabled
    }
}
