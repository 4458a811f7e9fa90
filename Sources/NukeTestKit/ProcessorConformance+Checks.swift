internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension ProcessorConformance {
    /// Identifiers go into keys of caches: on disk they last longer than the process.
    func checkIdentifiers(
        _ processors: [any ImageProcessing], _ again: [any ImageProcessing]
    ) -> [ConformanceViolation] {
        var found: [ConformanceViolation] = []
        for (index, processor) in processors.enumerated() {
            if processor.identifier.isEmpty { found.append(violation("identifier", processor, "it is empty")) }
            if processor.identifier != again[index].identifier {
                found.append(violation("identifier", processor, "made again: \(again[index].identifier)"))
            }
            if processor.hashableIdentifier != again[index].hashableIdentifier {
                found.append(violation("identifier", processor, "hashableIdentifier differs when made again"))
            }
            if processor.inPixels(scale: 1).identifier != processor.identifier {
                found.append(violation("identifier", processor, "in pixels, at scale 1, it is another"))
            }
            for other in processors.dropFirst(index + 1) {
                if processor.identifier == other.identifier {
                    found.append(violation("identifier", processor, "processors that differ share it"))
                }
                if processor.hashableIdentifier == other.hashableIdentifier {
                    let message = "hashableIdentifier is that of \(other.identifier)"
                    found.append(violation("identifier", processor, message))
                }
            }
        }
        return found
    }

    /// A container keeps what it has beside the image.
    func checkContainer(_ processor: any ImageProcessing) -> [ConformanceViolation] {
        guard let image = TestPicture.make(64, 48, alpha: .graded) else { return [] }
        let container = ImageContainer(
            image: image, type: "org.example.test", isPreview: true, data: Data([1, 2, 3]),
            userInfo: ["org.example.key": 7])
        let result: ImageContainer
        do {
            result = try processor.process(container, context: Self.context(container))
        } catch {
            return [violation("container", processor, "processing it throws \(error)")]
        }
        var found: [String] = []
        if result.type != container.type { found.append("its type becomes \(result.type?.rawValue ?? "nil")") }
        if result.isPreview != container.isPreview { found.append("it is no preview any more") }
        if result.data != container.data { found.append("its data changes") }
        if result.userInfo["org.example.key"] as? Int != 7 { found.append("its user info is lost") }
        if processor.process(image)?.hasSamePixels(as: result.image) != true {
            found.append("its pixels are not those of process(_:)")
        }
        return found.map { violation("container", processor, $0) }
    }

    /// What was reduced while decoding gives a result of the same size, which looks the same.
    func checkHints(_ processor: any ImageProcessing) -> [ConformanceViolation] {
        var found: [String] = []
        for (width, height) in [(320, 240), (131, 389), (250, 31)] {
            let original = ImageSize(width: width, height: height)
            guard let hint = processor.decodeHint(for: original) else { continue }
            guard hint.width >= 1, hint.height >= 1, hint.width <= original.width, hint.height <= original.height else {
                found.append("of \(original) it is \(hint)")
                continue
            }
            guard let whole = TestPicture.make(width, height, hasWaves: false),
                let expected = try? processor.process(ImageContainer(image: whole), context: Self.context(whole)).image
            else { continue }
            for factor in [2.0, 2.37] {
                let reduced = (Int((hint.width * factor).rounded(.up)), Int((hint.height * factor).rounded(.up)))
                guard reduced.0 < width, reduced.1 < height,
                    let image = TestPicture.make(reduced.0, reduced.1, hasWaves: false)
                else {
                    continue
                }
                var container = ImageContainer(image: image)
                container.originalSize = original
                guard let result = try? processor.process(container, context: Self.context(container)).image else {
                    found.append("a picture of \(original), reduced to \(image.size), can't be processed")
                    continue
                }
                if result.size != expected.size {
                    found.append("\(original), reduced to \(image.size), gives \(result.size), not \(expected.size)")
                }
                let difference = result.gridDifference(from: expected.gridMeans)
                if min(result.width, result.height) >= 8, difference > hintTolerance {
                    found.append("\(original), reduced to \(image.size), differs by \(difference)")
                }
            }
        }
        return found.map { violation("hint", processor, $0) }
    }

    /// Several at a time do not disturb each other.
    func checkConcurrency(_ processor: any ImageProcessing) async -> [ConformanceViolation] {
        let threads = CodecThreads(name: "conformance", count: 4)
        let pictures = [TestPicture.make(61, 40), TestPicture.make(40, 61, alpha: .graded)].compactMap { $0 }
        let expected = pictures.map { processor.process($0) }
        let isSame = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<8 {
                let (picture, expected) = (pictures[number % 2], expected[number % 2])
                group.addTask {
                    let result = await threads.run { processor.process(picture) }
                    guard let result, let expected else { return (result == nil) == (expected == nil) }
                    return result.hasSamePixels(as: expected)
                }
            }
            return await group.reduce(true) { $0 && $1 }
        }
        return isSame ? [] : [violation("concurrency", processor, "several at a time have other pixels")]
    }

    static func context(_ image: Bitmap) -> ImageProcessingContext { context(ImageContainer(image: image)) }

    static func context(_ container: ImageContainer) -> ImageProcessingContext {
        let request = ImageRequest(url: nil)
        let response = ImageResponse(container: container, request: request)
        return ImageProcessingContext(request: request, response: response, isCompleted: !container.isPreview)
    }
}
