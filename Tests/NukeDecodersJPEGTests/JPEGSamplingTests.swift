import FoundationEssentials
import NukeDecodersJPEG
import NukeTestSupport
import Testing

@testable import NukeCore

/// Components of other sizes than the picture, and in other scans than one.
@Suite("JPEG sampling", .timeLimit(.minutes(5)))
struct JPEGSamplingTests {
    /// The sampling factors of a component.
    struct Factors: CustomTestStringConvertible, Sendable {
        let columns: Int
        let rows: Int
        init(_ columns: Int, _ rows: Int) { (self.columns, self.rows) = (columns, rows) }
        var testDescription: String { "\(columns)x\(rows)" }
    }

    /// Blocks of one luma or chroma each, all different.
    private func components(_ factors: [Factors]) -> [JPEGFile.Component] {
        let starts: [(first: UInt8, step: UInt8)] = [(90, 9), (112, 7), (150, 6)]
        return zip(factors, starts).map { factors, start in
            let samples = (0..<factors.columns * factors.rows).map { start.first + UInt8($0) * start.step }
            return JPEGFile.Component(columns: factors.columns, rows: factors.rows, samples: samples)
        }
    }

    /// What is to be seen where a cell of 8x8 pixels is: red, green, blue (ITU-R BT.601, as JFIF has it).
    private func color(_ components: [JPEGFile.Component], _ x: Int, _ y: Int, of width: Int, _ height: Int) -> [Double]
    {
        let values = components.map { component in
            let (column, row) = (x * component.columns / width, y * component.rows / height)
            return Double(component.samples[row * component.columns + column])
        }
        let (luma, blue, red) = (values[0], values[1] - 128, values[2] - 128)
        return [luma + 1.402 * red, luma - 0.344136 * blue - 0.714136 * red, luma + 1.772 * blue]
    }

    private func check(_ components: [JPEGFile.Component], scans: [[Int]]? = nil) throws {
        let data = JPEGFile.blocks(components, scans: scans).data
        let width = components.map(\.columns).max() ?? 0
        let height = components.map(\.rows).max() ?? 0
        let whole = try JPEGUnderTest.decode(data).image
        var context = JPEGUnderTest.context(data)
        context.hintingProcessor = DecodeHint(size: ImageSize(width: 0.5, height: 0.5))
        let reduced = try ImageDecoders.JPEG(context: context).decode(data).image
        #expect((whole.width, whole.height) == (width * 8, height * 8))
        #expect((reduced.width, reduced.height) == (width, height))
        for y in 0..<height {
            for x in 0..<width {
                let expected = color(components, x, y, of: width, height)
                for pixel in [whole.pixel(x * 8 + 4, y * 8 + 4), reduced.pixel(x, y)] {
                    #expect(
                        zip(pixel, expected).allSatisfy { abs(Double($0) - $1) <= 2 },
                        "\(x), \(y): \(pixel) \(expected)")
                }
            }
        }
    }

    @Test(
        "Components of any whole fraction of the picture's size lie where they belong, whole and reduced",
        arguments: [
            [Factors(1, 1), Factors(1, 1), Factors(1, 1)], [Factors(2, 1), Factors(1, 1), Factors(1, 1)],
            [Factors(1, 2), Factors(1, 1), Factors(1, 1)], [Factors(2, 2), Factors(1, 1), Factors(1, 1)],
            [Factors(4, 1), Factors(1, 1), Factors(1, 1)], [Factors(1, 4), Factors(1, 1), Factors(1, 1)],
            [Factors(4, 2), Factors(1, 1), Factors(1, 1)], [Factors(3, 1), Factors(1, 1), Factors(1, 1)],
            [Factors(1, 3), Factors(1, 1), Factors(1, 1)], [Factors(3, 2), Factors(1, 1), Factors(1, 1)],
            [Factors(2, 2), Factors(2, 1), Factors(1, 2)], [Factors(2, 2), Factors(1, 1), Factors(2, 2)],
            [Factors(1, 1), Factors(2, 2), Factors(2, 2)], [Factors(1, 1), Factors(2, 1), Factors(1, 1)],
        ])
    func sampling(_ factors: [Factors]) throws {
        let components = components(factors)
        try check(components)
        try check(components, scans: [[0], [1], [2]])
        try check(components, scans: [[0], [1, 2]])
        try check(components, scans: [[2], [0, 1]])
    }

    @Test("More blocks than a scan may hold together decode one component at a time, else the file is corrupt")
    func manyBlocks() throws {
        let components = components([Factors(4, 3), Factors(1, 1), Factors(1, 1)])
        try check(components, scans: [[0], [1], [2]])
        let error = #expect(throws: ImageDecodingError.self) {
            try JPEGUnderTest.decode(JPEGFile.blocks(components).data)
        }
        #expect(error?.code == .corruptData)
    }

    @Test(
        "Components of two thirds and the like are unsupported",
        arguments: [
            [Factors(3, 1), Factors(2, 1), Factors(1, 1)], [Factors(1, 3), Factors(1, 2), Factors(1, 1)],
        ])
    func fractions(_ factors: [Factors]) {
        let error = #expect(throws: ImageDecodingError.self) {
            try JPEGUnderTest.decode(JPEGFile.blocks(components(factors)).data)
        }
        #expect(error?.code == .unsupported)
    }

    /// Where the rows of blocks between restart markers begin in a scan, and where the last ends.
    private func intervals(_ tail: [UInt8]) -> [Range<Int>] {
        let marks = tail.indices.dropLast().filter { tail[$0] == 0xFF && (0xD0...0xD7).contains(tail[$0 + 1]) }
        return zip([0] + marks.map { $0 + 2 }, marks + [tail.count]).map { $0..<$1 }
    }

    @Test("Damage between two restart markers stays there, and an interval that is lost does not move the others")
    func restarts() throws {
        let file = try JPEGFile(fixture: "gen-restart1.jpg")
        let whole = try JPEGUnderTest.decode(file.data).image
        let scan = try #require(file.segments.firstIndex { $0.marker == JPEGFile.startOfScan })
        let intervals = intervals(file.segments[scan].tail)
        let height = try #require([8, 16].first { (whole.height + $0 - 1) / $0 == intervals.count })
        for index in [2, 4] {
            var damaged = file
            damaged.segments[scan].tail.replaceSubrange(
                intervals[index], with: Array(repeating: 0, count: intervals[index].count))
            var lacking = file
            lacking.segments[scan].tail.removeSubrange(intervals[index].lowerBound - 2..<intervals[index].upperBound)
            for file in [damaged, lacking] {
                let image = try JPEGUnderTest.decode(file.data).image
                for y in 0..<whole.height {
                    // One row beside it changes with it, where chroma is made of its neighbours.
                    let isNear = (index * height - 1...(index + 1) * height).contains(y)
                    let row = { (image: Bitmap) in image.byteArray[y * image.bytesPerRow..<(y + 1) * image.bytesPerRow]
                    }
                    #expect(isNear || row(image) == row(whole), "row \(y)")
                }
                #expect(image.byteArray != whole.byteArray)
            }
        }
    }
}
