/// The actor on which pipelines coordinate their work: short steps only, never decoding, file access or a user's waits.
@globalActor
public actor ImagePipelineActor {
    /// The one instance, shared by all pipelines.
    public static let shared = ImagePipelineActor()
}
