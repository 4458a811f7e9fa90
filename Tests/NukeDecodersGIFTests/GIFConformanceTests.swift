import NukeDecodersGIF
import NukeTestKit
import Testing

@Suite("GIF conformance", .timeLimit(.minutes(5)))
struct GIFConformanceTests {
    @Test("the GIF decoder keeps the promises of a decoder")
    func conforms() async throws {
        var small = GIFFile(9, 7, [.init(4, 3, 1, left: 2, top: 2), .init(9, 7, 2)])
        small.frames[0].transparentIndex = 2
        small.frames[0].delay = 5
        small.loops = [0]
        let samples = [
            ("animated", small), ("larger", GIFFile.noise(201, 140)),
            ("interlaced", GIFFile.noise(61, 83, isInterlaced: true, bits: 5)),
            ("one pixel", GIFFile(1, 1, [.init(1, 1)])),
        ]
        let suite = DecoderConformance(format: .gif, samples: samples.map { .init(name: $0.0, data: $0.1.data) })
        #expect(await suite.violations().map(\.description) == [])
    }
}
