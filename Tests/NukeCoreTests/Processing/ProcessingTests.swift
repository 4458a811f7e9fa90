import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

/// Processors as values: identity, composition, containers.
@Suite(.timeLimit(.minutes(5)))
struct ProcessingTests {
    private func context(_ container: ImageContainer) -> ImageProcessingContext {
        let request = ImageRequest(url: nil)
        return ImageProcessingContext(
            request: request, response: ImageResponse(container: container, request: request), isCompleted: true)
    }

    @Test("an image that can't be made is an unknown error; by default all but the image is kept [PRC-02] [PRC-03]")
    func containers() throws {
        var container = ImageContainer(
            image: .mock(), type: .png, isPreview: true, data: Data([1, 2]), userInfo: ["key": 7])
        container.originalSize = ImageSize(width: 8, height: 6)
        let failing = ImageProcessors.Anonymous(id: "fails") { _ in nil }
        #expect(throws: ImageProcessingError.unknown) {
            try failing.process(container, context: context(container))
        }
        let processor = ImageProcessors.Anonymous(id: "other") { _ in .mock(width: 9) }
        let output = try processor.process(container, context: context(container))
        #expect(output.image.width == 9 && output.type == .png && output.isPreview && output.data == Data([1, 2]))
        #expect(output.userInfo["key"] as? Int == 7)
    }

    @Test("hashable identifiers: the text by default, the value itself for hashable processors [PRC-05]")
    func hashableIdentifiers() {
        let anonymous = ImageProcessors.Anonymous(id: "x") { $0 }
        #expect(anonymous.hashableIdentifier == AnyHashable("x"))
        let blur = ImageProcessors.GaussianBlur(radius: 3)
        #expect(blur.hashableIdentifier == AnyHashable(blur) && blur.hashableIdentifier != AnyHashable(blur.identifier))
    }

    @Test("lists are equal if as long and equal pair by pair; empty ones are [PRC-06]")
    func lists() {
        func list(_ ids: String...) -> ProcessorList { ProcessorList(ids.map { MockProcessor($0) }) }
        #expect(list("1", "2") == list("1", "2") && list() == list())
        #expect(list("1", "2") != list("2", "1") && list("1") != list("1", "1") && list() != list("1"))
        #expect(ProcessorList([.resize(width: 5)]) == ProcessorList([.resize(width: 5, unit: .pixels)]))
    }

    @Test("a composition is its members: nested or flat, in order [PRC-08]")
    func compositionIdentity() {
        typealias Composition = ImageProcessors.Composition
        let (one, two, three) = (MockProcessor("1"), MockProcessor("2"), MockProcessor("3"))
        let flat = Composition([one, two, three])
        let nested = Composition([one, Composition([two, Composition([three])])])
        #expect(flat == nested && flat.identifier == nested.identifier && flat.hashValue == nested.hashValue)
        #expect(flat.hashableIdentifier == nested.hashableIdentifier)
        #expect(Composition([two, one]) != Composition([one, two]))
        #expect(Composition([two, one]).identifier != Composition([one, two]).identifier)
        #expect(Composition([MockProcessor("12")]).identifier != Composition([one, two]).identifier)
        #expect(Composition([]) == Composition([]) && Composition([]).identifier == Composition([]).identifier)
    }

    @Test("an empty composition changes nothing; at a failure the rest does not run [PRC-09]")
    func compositionProcessing() throws {
        let image = Bitmap.mock()
        #expect(ImageProcessors.Composition([]).process(image) === image)
        let counter = MockProcessor.Counter()
        let failing = ImageProcessors.Composition([
            MockProcessor("1", counter: counter), .process(id: "2") { _ in nil }, MockProcessor("3", counter: counter),
        ])
        #expect(failing.process(image) == nil && counter.order == ["1"])
        let container = ImageContainer(image: image)
        #expect(throws: ImageProcessingError.unknown) { try failing.process(container, context: context(container)) }
        #expect(counter.order == ["1", "1"])
        let empty = try ImageProcessors.Composition([]).process(container, context: context(container))
        #expect(empty.image === image)
        // In order: the crop to a circle is of what was resized.
        let both = ImageProcessors.Composition([.resize(width: 2), .circle()])
        #expect(both.process(.mock(width: 8, height: 4))?.width == 1)
    }

    @Test("a composition's description lists its members [PRC-10]")
    func compositionDescription() {
        #expect("\(ImageProcessors.Composition([.circle()]))" == "Composition(processors: [Circle(border: nil)])")
    }

    @Test("an anonymous processor is known by its id alone; answering nil fails [PRC-11]")
    func anonymousIdentity() {
        let (a, b) = (ImageProcessors.Anonymous(id: "x") { $0 }, ImageProcessors.Anonymous(id: "x") { _ in nil })
        #expect(a.identifier == "x" && a.hashableIdentifier == b.hashableIdentifier)
        #expect(a.hashableIdentifier != ImageProcessors.Anonymous(id: "y") { $0 }.hashableIdentifier)
        #expect(a.process(.mock()) != nil && b.process(.mock()) == nil)
    }

    @Test("an anonymous processor's description has the id [PRC-12]")
    func anonymousDescription() {
        #expect("\(ImageProcessors.Anonymous(id: "my-id") { $0 })".contains("my-id"))
    }

    @Test("the shorthands give the same identifiers as the initialisers [PRC-50]")
    func shorthands() {
        let border = ImageProcessingOptions.Border(color: .red, width: 2)
        let short: [any ImageProcessing] = [
            .circle(), .circle(border: border), .roundedCorners(radius: 3),
            .roundedCorners(radius: 3, unit: .pixels, border: border), .gaussianBlur(), .gaussianBlur(radius: 3),
            .colorFilter(.mono), .coreImageFilter(name: "CIColorInvert"),
            .coreImageFilter(name: "CISepiaTone", parameters: ["inputIntensity": 1], identifier: "s"),
        ]
        let long: [any ImageProcessing] = [
            ImageProcessors.Circle(), ImageProcessors.Circle(border: border), ImageProcessors.RoundedCorners(radius: 3),
            ImageProcessors.RoundedCorners(radius: 3, unit: .pixels, border: border), ImageProcessors.GaussianBlur(),
            ImageProcessors.GaussianBlur(radius: 3), ImageProcessors.ColorFilter.mono,
            ImageProcessors.CoreImageFilter(name: "CIColorInvert"),
            ImageProcessors.CoreImageFilter(name: "CISepiaTone", parameters: ["inputIntensity": 1], identifier: "s"),
        ]
        #expect(short.map(\.identifier) == long.map(\.identifier))
        #expect(Set(short.map(\.identifier)).count == short.count)
    }

    @Test("what needs every pixel gives no hint; what comes after a resize does not matter")
    func hints() {
        let original = ImageSize(width: 4000, height: 3000)
        let processors: [any ImageProcessing] = [
            .circle(), .roundedCorners(radius: 5), .gaussianBlur(), .colorFilter(.mono),
        ]
        for processor in processors { #expect(processor.decodeHint(for: original) == nil) }
        let chain = ImageProcessors.Composition([.resize(width: 400)] + processors)
        #expect(chain.decodeHint(for: original) == ImageSize(width: 400, height: 300))
    }
}
