internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension DecoderConformance {
    /// What became of one decode.
    enum Outcome: CustomStringConvertible {
        case image(ImageContainer)
        case failed(ImageDecodingError)
        /// Failed with an error of some other type.
        case failedUntyped(any Error)
        /// The factory made no decoder.
        case declined

        var image: Bitmap? {
            guard case .image(let container) = self else { return nil }
            return container.image
        }

        var errorCode: ImageDecodingError.Code? {
            guard case .failed(let error) = self else { return nil }
            return error.code
        }

        var description: String {
            switch self {
            case .image(let container): "gives \(container.image)"
            case .failed(let error): "fails with \(error.code) (\(error))"
            case .failedUntyped(let error): "fails with an error that is no ImageDecodingError: \(error)"
            case .declined: "is declined"
            }
        }
    }

    /// Decodes as one load does, with a decoder of its own.
    func decode(_ data: Data, _ configure: (inout ImageDecodingContext) -> Void = { _ in }) -> Outcome {
        outcome(data, configure) { decoder in try decoder.decode(data) }
    }

    /// What the header of data tells; nil if it fails or the decoder doesn't say.
    func properties(of data: Data) -> ImageProperties? {
        guard let decoder = format.makeDecoder?(context(data)) else { return nil }
        return (try? decoder.properties(of: data)) ?? nil
    }

    func context(_ data: Data, isCompleted: Bool = true) -> ImageDecodingContext {
        ImageDecodingContext(request: ImageRequest(url: nil), data: data, isCompleted: isCompleted)
    }

    private func outcome(
        _ data: Data, _ configure: (inout ImageDecodingContext) -> Void,
        _ body: (any ImageDecoding) throws -> ImageContainer
    ) -> Outcome {
        var context = context(data)
        configure(&context)
        guard let decoder = format.makeDecoder?(context) else { return .declined }
        do {
            return .image(try body(decoder))
        } catch let error as ImageDecodingError {
            return .failed(error)
        } catch {
            return .failedUntyped(error)
        }
    }
}

extension DecoderConformance {
    /// A sequence of random numbers (SplitMix64, public domain, Sebastiano Vigna).
    struct Random: RandomNumberGenerator {
        private var state: UInt64

        init(seed: UInt64) { state = seed }

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
            return value ^ value >> 31
        }
    }
}
