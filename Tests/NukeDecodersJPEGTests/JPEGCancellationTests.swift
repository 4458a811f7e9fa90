import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore
@testable import NukeDecodersJPEG

/// How soon a decode that is not wanted any more ends.
@Suite("JPEG cancellation", .timeLimit(.minutes(5)))
struct JPEGCancellationTests {
    /// Reads a baseline file at 1/denominator of its size; the rows read when each look-up came.
    private func lookUps(
        orientation: ImageOrientation, denominator: Int = 1,
        _ body: (_ rowCount: Int) throws(ImageDecodingError) -> Void = { _ in }
    ) throws -> [Int] {
        let data = try #require(ImageEncoders.JPEG().encode(Picture.gradient(width: 120, height: 1000)))
        var session = try JPEGSession(JPEGUnderTest.context(data))
        session.take(data, isComplete: true)
        let isReady = try session.readHeader() != nil
        #expect(isReady)
        let (width, height) = try session.start(denominator: denominator)
        let reader = JPEGPixelReader(width: width, height: height, orientation: orientation)
        var rows: [Int] = []
        do throws(ImageDecodingError) {
            _ = try reader.pixels(from: session) { count throws(ImageDecodingError) in
                rows.append(count)
                try body(count)
            }
        } catch {
            guard error.code == .cancelled else { throw error }
            return rows
        }
        return rows + [height]
    }

    @Test("The flag is looked at before the first row and then at least every 64", arguments: ImageOrientation.allCases)
    func interval(_ orientation: ImageOrientation) throws {
        for denominator in [1, 4] {
            let rows = try lookUps(orientation: orientation, denominator: denominator)
            #expect(rows.first == 0 && rows.last == 1000 / denominator)
            #expect(rows.count > 1 && zip(rows, rows.dropFirst()).allSatisfy { $1 - $0 <= 64 }, "\(rows)")
        }
    }

    @Test(
        "A flag that is set while rows are read ends the decode within 64 of them",
        arguments: [ImageOrientation.up, .right])
    func withinRows(_ orientation: ImageOrientation) throws {
        let flag = CancellationFlag()
        let rows = try lookUps(orientation: orientation) { count throws(ImageDecodingError) in
            // Set behind the check, so the rows that follow are still read.
            try flag.check()
            if count >= 200 { flag.cancel() }
        }
        let set = try #require(rows.first { $0 >= 200 })
        #expect(rows.last.map { $0 - set <= 64 && $0 > set } == true)
    }
}
