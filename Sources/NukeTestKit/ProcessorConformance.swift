public import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Checks that processors keep the promises of `ImageProcessing`.
///
/// ```swift
/// let suite = ProcessorConformance { [Sharpen(amount: 1), Sharpen(amount: 2)] }
/// #expect(await suite.violations().isEmpty)
/// ```
///
/// They are given pictures of every pixel format, opaque, transparent and in between, from one pixel up.
public struct ProcessorConformance: Sendable {
    let makeProcessors: @Sendable () -> [any ImageProcessing]
    /// Mean code values by which the result of a reduced picture may differ from that of the whole one; 12 by default.
    public var hintTolerance = 12.0

    /// Creates a suite for processors, of one type or several, that all do different things.
    ///
    /// The closure is called more than once and has to make processors that do the same in the same order.
    public init(_ makeProcessors: @escaping @Sendable () -> [any ImageProcessing]) {
        self.makeProcessors = makeProcessors
    }

    /// The names of the checks, which stay what they are from version to version.
    ///
    /// - `processors`: there are any, and every time as many.
    /// - `identifier`: the same for processors that do the same, and another for others.
    /// - `result`: pictures of every format, and of odd sizes down to one pixel, can be processed.
    /// - `repetition`, `concurrency`: the same pixels twice, and several at a time.
    /// - `input`: the picture that is processed stays as it is.
    /// - `premultiplied`: no colour above alpha.
    /// - `opacity`: `isOpaque` is true only where alpha is full, and stays true where it is full as before.
    /// - `container`: type, data, preview flag and user info are kept, and the pixels those of `process(_:)`.
    /// - `output size`: no result is larger than `outputSize(for:)` says.
    /// - `hint`: of a picture that was reduced as `decodeHint(for:)` allows, the result has the size of a whole one's.
    public static let checks = [
        "processors", "identifier", "result", "repetition", "concurrency", "input", "premultiplied", "opacity",
        "container", "output size", "hint",
    ]

    /// Runs all checks and returns what they found; empty if the processors conform.
    public func violations() async -> [ConformanceViolation] {
        let (processors, again) = (makeProcessors(), makeProcessors())
        guard !processors.isEmpty, processors.count == again.count else {
            let message = "there are \(processors.count), and \(again.count) the next time"
            return [ConformanceViolation(check: "processors", message: message)]
        }
        var found = checkIdentifiers(processors, again)
        for processor in processors {
            for subject in Self.subjects { found += check(processor, subject) }
            found += checkContainer(processor) + checkHints(processor)
            found += await checkConcurrency(processor)
        }
        return found
    }

    func violation(_ check: String, _ processor: any ImageProcessing, _ message: String) -> ConformanceViolation {
        ConformanceViolation(check: check, message: "\(processor.identifier): \(message)")
    }
}

extension ProcessorConformance {
    /// A picture to be processed.
    struct Subject {
        let name: String
        let image: Bitmap
    }

    static var subjects: [Subject] {
        let sizes = [(1, 1), (1, 37), (41, 1), (2, 3), (7, 5), (61, 40), (40, 61)]
        let pictures = sizes.flatMap { width, height in
            TestPicture.Alpha.allCases.map { alpha in
                ("\(alpha) \(width)x\(height)", TestPicture.make(width, height, alpha: alpha))
            }
        }
        let formats = PixelFormat.allCases.filter { $0 != .rgba8 }.flatMap { format in
            [(1, 1), (33, 25)].flatMap { width, height in
                [TestPicture.Alpha.opaque, .graded].map { alpha in
                    let picture = TestPicture.make(width, height, alpha: alpha, format: format)
                    return ("\(alpha) \(format) \(width)x\(height)", picture)
                }
            }
        }
        return (pictures + formats).compactMap { name, image in image.map { Subject(name: name, image: $0) } }
    }

    /// What processing one picture shows.
    private func check(_ processor: any ImageProcessing, _ subject: Subject) -> [ConformanceViolation] {
        func violation(_ check: String, _ message: String) -> ConformanceViolation {
            self.violation(check, processor, "\(subject.name): \(message)")
        }
        let image = subject.image
        guard let before = image.copy, let result = processor.process(image) else {
            return [violation("result", "there is none")]
        }
        var found: [ConformanceViolation] = []
        if !image.hasSamePixels(as: before) { found.append(violation("input", "it was changed")) }
        if let wrong = result.wrongPremultiplication { found.append(violation("premultiplied", wrong)) }
        if let wrong = result.wrongOpacity { found.append(violation("opacity", wrong)) }
        // Of a few pixels a shape may fill all.
        let isLarge = min(image.width, image.height) >= 16
        if isLarge, image.isOpaque, !result.isOpaque, result.hasFullAlpha {
            found.append(violation("opacity", "it was opaque, and is, but is not said to be"))
        }
        let told = processor.outputSize(for: image.size)
        if result.size.width * result.size.height > told.width * told.height {
            found.append(violation("output size", "the result has \(result.size), and was to have \(told)"))
        }
        let again = processor.process(image)
        if again?.hasSamePixels(as: result) != true {
            found.append(violation("repetition", "processed twice, it has other pixels"))
        }
        return found
    }
}
