extension ImageSequence {
    /// All of several sequences at once, the worst picture first: only what is better than what was shown is given.
    ///
    /// Once a better one is complete, the worse are cancelled. A worse one that fails is passed over. The last one decides
    /// how the whole ends: its failure is thrown, after the others have given what they have. Previews are not given
    /// once there is a complete picture.
    public static func improving(_ sequences: [ImageSequence]) -> ImageSequence {
        guard var whole = sequences.first else {
            return ImageSequence { _ throws(ImagePipeline.Error) in throw .imageRequestMissing }
        }
        for better in sequences.dropFirst() { whole = pair(whole, better) }
        return whole
    }

    private static func pair(_ worse: ImageSequence, _ better: ImageSequence) -> ImageSequence {
        ImageSequence { yield throws(ImagePipeline.Error) in
            let screen = Screen(yield)
            // The error of the better one; nil if it is complete.
            let error = await withTaskGroup { group -> ImagePipeline.Error? in
                // Begun in this order, as far as their first wait, so that what is small is asked for first.
                group.addImmediateTask { (isBetter: false, outcome: await worse.outcome { screen.show($0, 0) }) }
                group.addImmediateTask { (isBetter: true, outcome: await better.outcome { screen.show($0, 1) }) }
                var error: ImagePipeline.Error?
                for await (isBetter, outcome) in group where isBetter {
                    switch outcome {
                    case .success:
                        group.cancelAll()
                        return nil
                    case .failure(let failure): error = failure
                    }
                }
                return error
            }
            if let error { throw error }
        }
    }

    /// Lets a response through if it is at least as good as the one before.
    private final class Screen: Sendable {
        private let rank = Lock(0)
        private let yield: Yield

        init(_ yield: @escaping Yield) { self.yield = yield }

        /// Previews rank below everything complete, and `quality` decides between equals.
        func show(_ response: ImageResponse, _ quality: Int) {
            let new = (response.isPreview ? 0 : 2) + quality
            // Given on under the lock, lest a worse one overtakes; it only goes into a buffer.
            rank.withLock { rank in
                guard new >= rank else { return }
                rank = new
                yield(response)
            }
        }
    }
}
