/// How much of each pixel of a picture a centred rectangle with round corners covers: exact areas, no samples.
struct RoundedRectangle {
    /// One row, left half; the right half is its mirror image.
    struct Row {
        /// Columns that are covered in part; those before are not covered at all.
        let partial: Range<Int>
        /// How much of the pixels from there to the middle is covered.
        let middle: Double
    }

    private let width: Int
    private let height: Int
    private let inset: Double
    private let radius: Double

    /// Creates a rectangle that stays `inset` away from the picture's edges; the radius is what it can be at most.
    init(width: Int, height: Int, inset: Double = 0, radius: Double) {
        self.width = width
        self.height = height
        self.inset = inset
        self.radius = max(0, min(radius, Double(min(width, height)) / 2 - inset))
    }

    /// The columns and the coverage of row `y`.
    func row(_ y: Int) -> Row {
        // From the upper half: the lower one is its mirror image.
        let y = min(y, height - 1 - y)
        let middle = overlap(y, height)
        guard middle > 0, inset * 2 < Double(width) else { return Row(partial: halfWidth..<halfWidth, middle: 0) }
        let corner = inset + radius
        let (near, far) = (max(0, corner - Double(y + 1)), min(radius, corner - Double(y)))
        let first = Int(edge(at: near).rounded(.down))
        let last = Int(edge(at: max(near, far)).rounded(.up))
        return Row(partial: min(first, halfWidth)..<min(max(first, last), halfWidth), middle: middle)
    }

    /// How much of the pixel is covered, 0…1.
    func coverage(_ x: Int, _ y: Int) -> Double {
        let (right, bottom) = (width - 1 - x, height - 1 - y)
        let missing = missing(x, y) + missing(right, y) + missing(x, bottom) + missing(right, bottom)
        return max(0, overlap(x, width) * overlap(y, height) - missing)
    }

    private var halfWidth: Int { (width + 1) / 2 }

    /// How much of the pixels at `position` lies between the straight edges, along one axis.
    private func overlap(_ position: Int, _ side: Int) -> Double {
        max(0, min(Double(position + 1), Double(side) - inset) - max(Double(position), inset))
    }

    /// Where the left edge is, at a height above the centre of the corner's circle.
    private func edge(at height: Double) -> Double {
        inset + radius - (max(0, radius * radius - height * height)).squareRoot()
    }

    /// What the upper left corner cuts off a pixel.
    private func missing(_ x: Int, _ y: Int) -> Double {
        let corner = inset + radius
        let (left, right) = (max(0, corner - Double(x + 1)), min(radius, corner - Double(x)))
        let (near, far) = (max(0, corner - Double(y + 1)), min(radius, corner - Double(y)))
        guard right > left, far > near, right * right + far * far > radius * radius else { return 0 }
        let area = (right - left) * (far - near)
        if left * left + near * near >= radius * radius { return area }
        return area - (discArea(right, far) - discArea(left, far) - discArea(right, near) + discArea(left, near))
    }

    /// The area that the disc around the origin shares with the rectangle from the origin to (x, y); both at most `radius`.
    private func discArea(_ x: Double, _ y: Double) -> Double {
        let square = radius * radius
        if x * x + y * y <= square { return x * y }
        let bend = max(0, square - y * y).squareRoot()
        return bend * y + circleIntegral(x) - circleIntegral(bend)
    }

    /// The integral of √(radius² − t²) from 0 to x.
    private func circleIntegral(_ x: Double) -> Double {
        let square = radius * radius
        return (x * max(0, square - x * x).squareRoot() + square * RealFunctions.asin(min(1, x / radius))) / 2
    }
}
