import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.timeLimit(.minutes(5)))
struct ColorFilterTests {
    typealias Filter = ImageProcessors.ColorFilter

    /// What becomes of one opaque pixel.
    private func apply(_ processor: any ImageProcessing, _ pixel: [UInt8]) -> [UInt8]? {
        processor.process(Bitmap.make(width: 1, height: 1) { _, _ in pixel })?.pixel(0, 0)
    }

    private func isClose(_ a: [UInt8]?, _ b: [UInt8], within: Int = 1) -> Bool {
        guard let a, a.count == b.count else { return false }
        return zip(a, b).allSatisfy { abs(Int($0) - Int($1)) <= within }
    }

    @Test("each filter does what its name says, to a pixel")
    func pixels() {
        let pixel: [UInt8] = [200, 100, 50, 255]
        #expect(isClose(apply(Filter.sepia(), pixel), [165, 147, 114, 255]))
        #expect(apply(Filter.sepia(intensity: 0), pixel) == pixel)
        #expect(isClose(apply(Filter.mono, pixel), [118, 118, 118, 255]))
        #expect(apply(Filter.invert, pixel) == [55, 155, 205, 255])
        #expect(isClose(apply(Filter.saturation(0), pixel), [118, 118, 118, 255]))
        #expect(apply(Filter.saturation(1), pixel) == pixel)
        #expect(apply(Filter.brightness(0.2), pixel) == [251, 151, 101, 255])
        #expect(apply(Filter.brightness(-1), pixel) == [0, 0, 0, 255])
        #expect(isClose(apply(Filter.contrast(2), pixel), [255, 72, 0, 255]))
        #expect(isClose(apply(Filter.contrast(0), pixel), [128, 128, 128, 255]))
        #expect(isClose(apply(Filter.exposure(1), pixel), [255, 138, 70, 255], within: 2))
        #expect(apply(Filter.exposure(0), pixel) == pixel)
        #expect(isClose(apply(Filter.gamma(2), pixel), [157, 39, 10, 255]))
        #expect(apply(Filter.hue(0), pixel) == pixel)
        #expect(isClose(apply(Filter.hue(2 * .pi), pixel), pixel))
        #expect(isClose(apply(Filter.monochrome(.blue), pixel), [0, 0, 118, 255]))
        #expect(apply(Filter.posterize(levels: 2), pixel) == [255, 0, 0, 255])
        #expect(apply(Filter.threshold(0.3), pixel) == [255, 255, 0, 255])
        let dark = apply(Filter.noir, [60, 60, 60, 255])?[0] ?? 255
        #expect(dark < 25 && apply(Filter.tonal, [60, 60, 60, 255])?[0] ?? 0 > 65)
    }

    @Test("alpha stays, and colours are changed as if it were divided out")
    func transparency() {
        // Half of (200, 100, 50).
        let pixel: [UInt8] = [100, 50, 25, 128]
        #expect(isClose(apply(Filter.invert, pixel), [28, 78, 103, 128]))
        #expect(isClose(apply(Filter.brightness(1), pixel), [128, 128, 128, 128]))
        #expect(isClose(apply(Filter.gamma(2), pixel), [79, 20, 5, 128]))
        for filter in [Filter.invert, .brightness(1), .gamma(0.1), .exposure(9), .threshold(0)] {
            #expect(apply(filter, [0, 0, 0, 0]) == [0, 0, 0, 0])
        }
    }

    @Test("hues are turned along colours of equal luminance")
    func hue() throws {
        let turned = try #require(apply(Filter.hue(.pi), [120, 100, 80, 255])).map(Double.init)
        #expect(turned[0] < turned[2])
        let luminance = 0.2126 * turned[0] + 0.7152 * turned[1] + 0.0722 * turned[2]
        #expect(abs(luminance - 102.8) < 1.5)
    }

    @Test("gray stays gray where the result is gray; 16 bits stay", arguments: PixelFormat.allCases)
    func formats(format: PixelFormat) throws {
        let image = Bitmap.gradient(width: 16, height: 2, format: format, scale: 2)
        for filter in [Filter.invert, .mono, .contrast(0.5), .gamma(2), .exposure(1), .vignette(intensity: 0.5)] {
            let output = try #require(filter.process(image))
            #expect(output.format == format && output.isOpaque && output.scale == 2)
        }
        let sepia = try #require(Filter.sepia().process(image))
        #expect(
            sepia.format == (format == .gray8 ? .rgba8 : format) && sepia.pixel(8, 0)[0] > sepia.pixel(8, 0)[2] + 20)
        #expect(sepia.isOpaque && sepia.scale == 2)
        let inverted = try #require(Filter.invert.process(image))
        for x in 0..<16 { #expect(abs(Int(inverted.pixel(x, 1)[0]) + Int(image.pixel(x, 1)[0]) - 255) <= 1) }
        let gamma = try #require(Filter.gamma(2).process(image))
        for x in 0..<16 {
            let value = Double(image.pixel(x, 1)[0]) / 255
            #expect(abs(Double(gamma.pixel(x, 1)[0]) - value * value * 255) <= 2)
        }
    }

    @Test("a vignette darkens corners, and the middle not at all")
    func vignette() throws {
        let image = Bitmap.mock(width: 41, height: 31, gray: 200)
        let output = try #require(Filter.vignette().process(image))
        #expect(output.pixel(20, 15) == [200, 200, 200, 255] && output.pixel(0, 0)[0] < 6)
        #expect(output.pixel(0, 0)[3] == 255 && output.pixel(0, 0) == output.pixel(40, 30))
        let row = (20..<41).map { output.pixel($0, 15)[0] }
        #expect(zip(row, row.dropFirst()).allSatisfy { $0 >= $1 })
        let near = try #require(Filter.vignette(intensity: 0.5, radius: 0.2).process(image))
        #expect(near.pixel(8, 15)[0] == 200 && (95...110).contains(near.pixel(0, 0)[0]))
    }

    @Test("parameters are part of the identity; those that are no number fail")
    func identity() {
        let filters: [Filter] = [
            .sepia(), .sepia(intensity: 0.5), .mono, .noir, .tonal, .invert, .saturation(2), .brightness(2),
            .contrast(2), .exposure(2), .gamma(2), .hue(2), .monochrome(.red), .monochrome(.blue),
            .posterize(levels: 4), .threshold(0.5), .vignette(), .vignette(intensity: 0.5), .vignette(radius: 0.5),
        ]
        #expect(Set(filters.map(\.identifier)).count == filters.count && Set(filters).count == filters.count)
        #expect(Filter.sepia().identifier == "com.github.kean/nuke/color_filter?sepia,intensity=1.0")
        #expect("\(Filter.gamma(2))" == "ColorFilter(gamma=2.0)")
        let wrong: [Filter] = [
            .sepia(intensity: .nan), .saturation(.infinity), .brightness(.nan), .exposure(.nan), .gamma(.infinity),
            .hue(.nan), .hue(.infinity), .threshold(.nan), .vignette(intensity: .nan),
        ]
        for filter in wrong { #expect(filter.process(.mock()) == nil) }
        #expect(Filter.exposure(1e300).process(.mock()) != nil && Filter.gamma(-1).process(.mock()) != nil)
    }
}

@Suite(.timeLimit(.minutes(5)))
struct CoreImageFilterTests {
    typealias Filter = ImageProcessors.CoreImageFilter

    private func error(_ filter: Filter) -> Filter.Error? {
        let container = ImageContainer(image: .mock())
        let request = ImageRequest(url: nil)
        let context = ImageProcessingContext(
            request: request, response: ImageResponse(container: container, request: request), isCompleted: true)
        do {
            _ = try filter.process(container, context: context)
            return nil
        } catch {
            return error as? Filter.Error
        }
    }

    @Test("unknown names and wrong parameters are errors of their own; shared filters never mix images [PRC-47]")
    func errors() async {
        #expect(error(Filter(name: "CINoSuchFilter")) == .unknownFilter(name: "CINoSuchFilter"))
        #expect(Filter(name: "CINoSuchFilter").process(.mock()) == nil)
        func sepia(_ parameters: [String: any Sendable]) -> Filter {
            Filter(name: "CISepiaTone", parameters: parameters, identifier: "x")
        }
        let wrongType = Filter.Error.invalidParameter(filter: "CISepiaTone", parameter: "inputIntensity")
        #expect(error(sepia(["inputIntensity": "much"])) == wrongType)
        let unknown = Filter.Error.invalidParameter(filter: "CISepiaTone", parameter: "inputColour")
        #expect(error(sepia(["inputColour": 1.0])) == unknown)
        #expect(error(sepia(["inputIntensity": 1])) == nil && error(sepia(["inputIntensity": Float(0.5)])) == nil)
        let shared = Filter(name: "CIColorInvert")
        let results = await withTaskGroup(of: Bool.self) { group in
            for gray in 0..<32 {
                group.addTask {
                    let image = Bitmap.mock(width: 16, height: 16, gray: UInt8(gray * 8))
                    return shared.process(image)?.pixel(5, 5)[0] == UInt8(255 - gray * 8)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.count == 32 && results.allSatisfy { $0 })
    }

    @Test("known names stand for processors of the package's own")
    func names() {
        let image = Bitmap.make(width: 6, height: 6) { x, y in [UInt8(x * 40), UInt8(y * 40), 90, 255] }
        let pairs: [(Filter, any ImageProcessing)] = [
            (Filter(name: "CISepiaTone"), .colorFilter(.sepia())),
            (Filter(name: "CIColorInvert"), .colorFilter(.invert)),
            (Filter(name: "CIPhotoEffectMono"), .colorFilter(.mono)),
            (Filter(name: "CIPhotoEffectNoir"), .colorFilter(.noir)),
            (Filter(name: "CIPhotoEffectTonal"), .colorFilter(.tonal)),
            (Filter(name: "CIGaussianBlur"), .gaussianBlur(radius: 10)),
            (Filter(name: "CIColorPosterize"), .colorFilter(.posterize(levels: 6))),
            (Filter(name: "CIColorThreshold"), .colorFilter(.threshold(0.5))),
            (Filter(name: "CIVignette", parameters: ["inputIntensity": 1], identifier: "v"), .colorFilter(.vignette())),
            (Filter(name: "CIExposureAdjust", parameters: ["inputEV": 1], identifier: "e"), .colorFilter(.exposure(1))),
            (Filter(name: "CIGammaAdjust", parameters: ["inputPower": 2], identifier: "g"), .colorFilter(.gamma(2))),
            (Filter(name: "CIHueAdjust", parameters: ["inputAngle": 1], identifier: "h"), .colorFilter(.hue(1))),
            (
                Filter(name: "CIColorMonochrome", parameters: ["inputColor": PlatformColor.red], identifier: "m"),
                .colorFilter(.monochrome(.red))
            ),
            (
                Filter(name: "CIColorControls", parameters: ["inputBrightness": 0.25], identifier: "c"),
                .colorFilter(.brightness(0.25))
            ),
        ]
        for (filter, processor) in pairs {
            #expect(filter.process(image)?.byteArray == processor.process(image)?.byteArray, "\(filter)")
        }
        #expect(Filter(name: "CIExposureAdjust").process(image)?.byteArray == image.byteArray)
    }
}
