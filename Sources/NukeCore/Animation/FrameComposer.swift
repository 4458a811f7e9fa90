/// The way to any frame of an animation whose frames are drawn over each other on one canvas, as those of GIF and APNG are.
///
/// Knows what has to be drawn for a frame, and keeps the canvas as it was shown last and, if that frame is to be taken back,
/// as it was before. Frames in rising order are drawn once each; any other starts from the last one shown, or from the nearest
/// before it that needs none before, and frames between that leave nothing on the canvas are not drawn.
public struct FrameComposer: Sendable {
    /// What becomes of the canvas after a frame was shown, before the next one is drawn.
    public enum Disposal: Sendable {
        /// It stays as it is.
        case keep
        /// The frame's place becomes transparent.
        case clear
        /// What was there before the frame comes back.
        case restore
    }

    /// A frame, as far as its neighbours have to know.
    public struct Frame: Sendable {
        /// What becomes of the canvas after it.
        public let disposal: Disposal
        /// Whether its place is the whole canvas.
        public let coversCanvas: Bool
        /// Whether nothing is seen of what was there before; false where that is not known.
        public let isComplete: Bool

        /// Creates a frame.
        public init(disposal: Disposal, coversCanvas: Bool, isComplete: Bool) {
            self.disposal = disposal
            self.coversCanvas = coversCanvas
            self.isComplete = isComplete
        }
    }

    /// What is done to the canvas.
    public enum Step: Sendable, Hashable {
        /// A frame is drawn.
        case paint(Int)
        /// A frame's place becomes transparent.
        case clear(Int)
    }

    private struct Shown {
        let index: Int
        let image: Bitmap
        /// The canvas before it, kept if it comes back; nil if it was empty.
        let before: Bitmap?
    }

    private let frames: [Frame]
    private var last: Shown?

    /// Creates a composer of all frames of an animation, in their order.
    public init(_ frames: [Frame]) { self.frames = frames }

    /// How many pictures of the canvas are kept at most: what memory limits count with.
    public var canvasCount: Int { frames.contains { $0.disposal == .restore } ? 2 : 1 }

    /// The canvas as it is shown at a frame.
    ///
    /// Rethrows what `draw` throws; what was shown last stays then.
    ///
    /// - Parameters:
    ///   - index: Below the number of frames.
    ///   - draw: Makes a picture of the canvas out of another, nil if it is empty, by doing the steps in their order. Called
    ///     once or twice, or not at all if the frame is the one shown last.
    public mutating func frame<Failure: Error>(
        at index: Int, draw: (Bitmap?, [Step]) throws(Failure) -> Bitmap
    ) throws(Failure) -> Bitmap {
        if let last, last.index == index { return last.image }
        var (base, steps) = way(to: index)
        let comesBack = frames[index].disposal == .restore
        if comesBack, !steps.isEmpty {
            // What comes back must be a picture of its own.
            base = try draw(base, steps)
            steps = []
        }
        let image = try draw(base, steps + [.paint(index)])
        last = Shown(index: index, image: image, before: comesBack ? base : nil)
        return image
    }

    /// Goes back from a frame to where the canvas is known.
    private func way(to index: Int) -> (base: Bitmap?, steps: [Step]) {
        if frames[index].isComplete, frames[index].disposal != .restore { return (nil, []) }
        var base: Bitmap?
        var steps: [Step] = []
        for before in (0..<index).reversed() {
            let (frame, isShown) = (frames[before], last?.index == before)
            switch frame.disposal {
            case .restore:
                guard isShown else { continue }
                base = last?.before
            case .clear:
                if frame.coversCanvas { break }
                steps.append(.clear(before))
                // What it covered is cleared, what it did not is as before it.
                guard isShown else { continue }
                base = last?.image
            case .keep:
                if isShown {
                    base = last?.image
                } else {
                    steps.append(.paint(before))
                    guard frame.isComplete else { continue }
                }
            }
            break
        }
        return (base, steps.reversed())
    }
}
