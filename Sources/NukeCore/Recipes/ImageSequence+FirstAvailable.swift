extension ImageSequence {
    /// One of several sequences after the other, until one succeeds.
    ///
    /// Where none does, the error thrown is `dataLoadingFailed` with an `AlternativesError`; with one sequence, its own.
    public static func firstAvailable(_ sequences: [ImageSequence]) -> ImageSequence {
        ImageSequence { yield throws(ImagePipeline.Error) in
            var errors: [ImagePipeline.Error] = []
            for sequence in sequences {
                switch await sequence.outcome(yield) {
                case .success: return
                case .failure(let error):
                    if Task.isCancelled { throw .cancelled }
                    errors.append(error)
                }
            }
            guard let first = errors.first else { throw .imageRequestMissing }
            throw errors.count == 1 ? first : .dataLoadingFailed(error: AlternativesError(errors: errors))
        }
    }
}

/// Why none of several alternatives could be loaded.
public struct AlternativesError: Error, CustomStringConvertible {
    /// The error of each, in the order in which they were tried.
    public let errors: [ImagePipeline.Error]

    /// The errors in words.
    public var description: String {
        "none of \(errors.count) alternatives could be loaded: \(errors.map(\.description).joined(separator: "; "))"
    }
}
