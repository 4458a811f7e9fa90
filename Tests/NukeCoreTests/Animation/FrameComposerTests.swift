import NukeTestSupport
import Testing

@testable import NukeCore

/// Frames are single letters here: a picture of the canvas is known by the text that its drawing left.
@Suite("The way to a frame of an animation")
struct FrameComposerTests {
    private typealias Frame = FrameComposer.Frame

    /// Draws texts in place of pixels, and counts.
    private final class Canvas {
        var texts: [ObjectIdentifier: String] = [:]
        var kept: [Bitmap] = []
        var drawn: [FrameComposer.Step] = []

        func draw(_ base: Bitmap?, _ steps: [FrameComposer.Step]) throws(ImageDecodingError) -> Bitmap {
            guard let image = PixelBuffer(width: 1, height: 1)?.freeze() else { throw .unknown }
            var text = base.flatMap { texts[ObjectIdentifier($0)] } ?? ""
            for step in steps {
                switch step {
                case .paint(let index): text += "\(index)"
                case .clear(let index): text += "-\(index)"
                }
            }
            drawn += steps
            texts[ObjectIdentifier(image)] = text
            kept.append(image)
            return image
        }
    }

    private func text(
        _ composer: inout FrameComposer, _ index: Int, _ canvas: Canvas
    ) throws -> String? {
        let image = try composer.frame(at: index) { base, steps throws(ImageDecodingError) in
            try canvas.draw(base, steps)
        }
        return canvas.texts[ObjectIdentifier(image)]
    }

    private let keep = Frame(disposal: .keep, coversCanvas: false, isComplete: false)
    private let clear = Frame(disposal: .clear, coversCanvas: false, isComplete: false)
    private let restore = Frame(disposal: .restore, coversCanvas: false, isComplete: false)
    private let complete = Frame(disposal: .keep, coversCanvas: true, isComplete: true)
    private let gone = Frame(disposal: .clear, coversCanvas: true, isComplete: false)

    @Test("frames in order are drawn once each, and the one shown is not drawn again")
    func inOrder() throws {
        var composer = FrameComposer([keep, clear, keep])
        let canvas = Canvas()
        #expect(try (0..<3).map { try text(&composer, $0, canvas) } == ["0", "01", "01-12"])
        #expect(try text(&composer, 2, canvas) == "01-12")
        #expect(canvas.drawn == [.paint(0), .paint(1), .clear(1), .paint(2)])
        #expect(composer.canvasCount == 1)
    }

    @Test("a frame that is taken back leaves nothing: the one after it is drawn on what was before")
    func restored() throws {
        var composer = FrameComposer([keep, restore, keep])
        let canvas = Canvas()
        #expect(try (0..<3).map { try text(&composer, $0, canvas) } == ["0", "01", "02"])
        #expect(canvas.drawn == [.paint(0), .paint(1), .paint(2)])
        #expect(composer.canvasCount == 2)
        // From the start again: the second frame need not be drawn for the third.
        composer = FrameComposer([keep, restore, keep])
        canvas.drawn = []
        #expect(try text(&composer, 2, canvas) == "02")
        #expect(canvas.drawn == [.paint(0), .paint(2)])
    }

    @Test("what hides or clears all that was before is where drawing starts")
    func starts() throws {
        var composer = FrameComposer([keep, complete, keep, gone, keep])
        let canvas = Canvas()
        #expect(try text(&composer, 2, canvas) == "12")
        #expect(try text(&composer, 4, canvas) == "4")
        #expect(try text(&composer, 1, canvas) == "1")
        #expect(canvas.drawn == [.paint(1), .paint(2), .paint(4), .paint(1)])
    }

    /// A frame of a canvas of six cells: its place, and those of its cells that hide what is below.
    private struct Tile {
        let place: Set<Int>
        let opaque: Set<Int>
        let disposal: FrameComposer.Disposal

        init(using random: inout SeededNumbers) {
            let cells = Set(0..<6)
            place = random.next() % 3 == 0 ? cells : cells.filter { _ in random.next() % 2 == 0 }
            opaque = random.next() % 2 == 0 ? place : place.filter { _ in random.next() % 2 == 0 }
            disposal = [.keep, .keep, .clear, .restore][Int(random.next() % 4)]
        }

        var frame: Frame {
            Frame(disposal: disposal, coversCanvas: place.count == 6, isComplete: opaque.count == 6)
        }
    }

    @Test("any order gives what the rules do, one frame after the other")
    func anyOrder() throws {
        var random = SeededNumbers(seed: 5)
        for _ in 0..<300 {
            let tiles = (0..<6).map { _ in Tile(using: &random) }
            var expected: [[Int]] = []
            var canvas = Array(repeating: -1, count: 6)
            for (index, tile) in tiles.enumerated() {
                let before = canvas
                for cell in tile.opaque { canvas[cell] = index }
                expected.append(canvas)
                switch tile.disposal {
                case .keep: break
                case .clear: for cell in tile.place { canvas[cell] = -1 }
                case .restore: canvas = before
                }
            }
            var composer = FrameComposer(tiles.map(\.frame))
            var cells: [ObjectIdentifier: [Int]] = [:]
            var kept: [Bitmap] = []
            for _ in 0..<15 {
                let index = Int.random(in: 0..<6, using: &random)
                let image = try composer.frame(at: index) { base, steps throws(ImageDecodingError) in
                    guard let image = PixelBuffer(width: 1, height: 1)?.freeze() else { throw .unknown }
                    var drawn = base.flatMap { cells[ObjectIdentifier($0)] } ?? Array(repeating: -1, count: 6)
                    for step in steps {
                        switch step {
                        case .paint(let index): for cell in tiles[index].opaque { drawn[cell] = index }
                        case .clear(let index): for cell in tiles[index].place { drawn[cell] = -1 }
                        }
                    }
                    cells[ObjectIdentifier(image)] = drawn
                    kept.append(image)
                    return image
                }
                #expect(cells[ObjectIdentifier(image)] == expected[index])
            }
        }
    }

    @Test("what was shown last stays where drawing fails")
    func failure() throws {
        var composer = FrameComposer([keep, keep])
        let canvas = Canvas()
        _ = try text(&composer, 0, canvas)
        #expect(throws: ImageDecodingError.cancelled) {
            try composer.frame(at: 1) { _, _ throws(ImageDecodingError) in throw .cancelled }
        }
        canvas.drawn = []
        #expect(try text(&composer, 1, canvas) == "01")
        #expect(canvas.drawn == [.paint(1)])
    }
}
