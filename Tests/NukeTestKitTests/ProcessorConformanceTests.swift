import NukeCore
import NukeTestKit
import Testing

@Suite("Processor conformance", .timeLimit(.minutes(5)))
struct ProcessorConformanceTests {
    @Test("A sound processor has no violations")
    func sound() async {
        let suite = ProcessorConformance { [Dimmer(percent: 50), Dimmer(percent: 90)] }
        let violations = await suite.violations()
        #expect(violations.map(\.description) == [])
    }

    @Test("A processor with a fault has a violation of the check that is for it", arguments: Dimmer.Fault.allCases)
    func faulty(_ fault: Dimmer.Fault) async {
        let suite = ProcessorConformance { [Dimmer(percent: 50, fault: fault), Dimmer(percent: 90, fault: fault)] }
        let violations = await suite.violations()
        #expect(violations.contains { $0.check == fault.check }, "\(violations)")
        #expect(violations.allSatisfy { ProcessorConformance.checks.contains($0.check) })
    }

    @Test("Every check has a faulty processor that it finds")
    func everyCheck() {
        // Tests of their own are for two of them.
        let found = Set(Dimmer.Fault.allCases.map(\.check)).union(["processors", "input"])
        #expect(Set(ProcessorConformance.checks) == found)
    }

    @Test("A processor that changes what it is given is found")
    func changesInput() async {
        // Bitmaps can't be changed by means that the core offers: this one reaches into the memory.
        let suite = ProcessorConformance {
            [
                .process(id: "org.example.scribble") { image in
                    image.bytes.withUnsafeBytes { bytes in
                        let start = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
                        start?.storeBytes(of: 99, as: UInt8.self)
                    }
                    return image
                } as ImageProcessors.Anonymous
            ]
        }
        let violations = await suite.violations()
        #expect(violations.contains { $0.check == "input" }, "\(violations)")
    }

    @Test("A suite without processors fails, and one whose number changes")
    func noProcessors() async {
        #expect(await ProcessorConformance { [] }.violations().map(\.check) == ["processors"])
        let count = Lock(0)
        let suite = ProcessorConformance {
            let number = count.withLock { count in
                count += 1
                return count
            }
            return (0..<number).map { Dimmer(percent: $0) }
        }
        #expect(await suite.violations().map(\.check) == ["processors"])
    }
}

@Suite("Bundled processors", .timeLimit(.minutes(5)))
struct BundledProcessorTests {
    @Test("Resize keeps the promises of a processor")
    func resize() async {
        await expectConformance {
            [
                ImageProcessors.Resize(width: 20), ImageProcessors.Resize(height: 20),
                ImageProcessors.Resize(width: 21, unit: .pixels), ImageProcessors.Resize(width: 90, upscale: true),
                ImageProcessors.Resize(size: ImageSize(width: 24, height: 30)),
                ImageProcessors.Resize(size: ImageSize(width: 24, height: 30), contentMode: .aspectFit),
                ImageProcessors.Resize(size: ImageSize(width: 24, height: 30), crop: true),
                ImageProcessors.Resize(size: ImageSize(width: 70, height: 90), crop: true, upscale: true),
            ]
        }
    }

    @Test("Shapes keep the promises of a processor")
    func shapes() async {
        let border = ImageProcessingOptions.Border(color: PlatformColor(red: 1, green: 0, blue: 0), width: 2)
        await expectConformance {
            [
                ImageProcessors.Circle(), ImageProcessors.Circle(border: border),
                ImageProcessors.RoundedCorners(radius: 4), ImageProcessors.RoundedCorners(radius: 9, border: border),
            ]
        }
    }

    @Test("Filters keep the promises of a processor")
    func filters() async {
        await expectConformance {
            [
                ImageProcessors.GaussianBlur(radius: 1), ImageProcessors.GaussianBlur(radius: 8),
                ImageProcessors.ColorFilter.sepia(), ImageProcessors.ColorFilter.sepia(intensity: 0.5),
                ImageProcessors.ColorFilter.mono, ImageProcessors.ColorFilter.noir, ImageProcessors.ColorFilter.tonal,
                ImageProcessors.ColorFilter.invert, ImageProcessors.ColorFilter.saturation(2),
                ImageProcessors.ColorFilter.brightness(0.25), ImageProcessors.ColorFilter.contrast(1.5),
                ImageProcessors.ColorFilter.exposure(1), ImageProcessors.ColorFilter.gamma(0.5),
                ImageProcessors.ColorFilter.hue(1), ImageProcessors.ColorFilter.posterize(levels: 4),
                ImageProcessors.ColorFilter.vignette(intensity: 0.5, radius: 1),
                ImageProcessors.CoreImageFilter(name: "CISepiaTone"),
            ]
        }
    }

    @Test("Compositions and closures keep the promises of a processor")
    func compositions() async {
        await expectConformance {
            [
                ImageProcessors.Composition([ImageProcessors.Resize(width: 20), ImageProcessors.Circle()]),
                ImageProcessors.Composition([ImageProcessors.Circle(), ImageProcessors.Resize(width: 20)]),
                ImageProcessors.Anonymous(id: "org.example.same") { $0 },
            ]
        }
    }

    private func expectConformance(_ processors: @escaping @Sendable () -> [any ImageProcessing]) async {
        let violations = await ProcessorConformance(processors).violations()
        #expect(violations.map(\.description) == [])
    }
}
