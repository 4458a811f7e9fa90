import NukeKit

/// The frame of a picture that `--frame` asks for.
struct FrameChoice: Sendable {
    /// Counts from 0.
    let index: Int

    /// Why there is no such frame.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The frame in place of the whole, with the processors applied to it: they ran on the poster, if at all.
    ///
    /// A picture that is no animation is its own frame 0.
    func container(
        of response: ImageResponse, processors: [any ImageProcessing]
    ) async throws -> ImageContainer {
        var response = response
        let animation = response.container.animation
        let count = animation?.frameCount ?? 1
        guard index < count else {
            let frames = count == 1 ? "there is one frame, 0" : "there are \(count) frames, 0 to \(count - 1)"
            throw Failure(description: "no frame \(index): \(frames)")
        }
        if let animation { response.container.image = try await animation.frame(at: index) }
        response.container.animation = nil
        response.container.data = nil
        guard !processors.isEmpty else { return response.container }
        let frame = response
        return try await CodecThreads.shared.run {
            let context = ImageProcessingContext(request: frame.request, response: frame, isCompleted: true)
            return try processors.reduce(frame.container) { try $1.process($0, context: context) }
        }
    }
}
