/// What viewers have on the canvas while frames are added, and what of each frame has to be stored.
///
/// A GIF can't draw nothing over something: where that is wanted, the frame before is taken off its place first, which is
/// made large enough for it. Hence one frame is held back until the next is known.
struct GIFCanvas {
    /// A frame as it is stored.
    struct Part {
        /// Its place on the canvas.
        let area: GIFArea
        /// The pixels of that place; 0 where the canvas stays as it is.
        let pixels: [UInt32]
        /// Whether its place becomes empty before the next frame.
        let isCleared: Bool
    }

    private var canvas: GIFPicture
    private var isFirst = true

    init(width: Int, height: Int) { canvas = GIFPicture(width: width, height: height) }

    /// What has to be stored for the next frame; `following` is the one after it.
    mutating func part(of frame: GIFPicture, following: GIFPicture?) -> Part {
        var area = isFirst ? GIFArea(columns: 0..<frame.width, rows: 0..<frame.height) : GIFArea()
        isFirst = false
        area.add(Self.area(of: frame) { canvas.pixels[$0] != frame.pixels[$0] })
        let leaving = following.map { following in
            Self.area(of: frame) { frame.pixels[$0] != 0 && following.pixels[$0] == 0 }
        }
        let isCleared = leaving?.isEmpty == false
        if let leaving { area.add(leaving) }
        // A frame has at least a pixel.
        if area.isEmpty { area = GIFArea(columns: 0..<1, rows: 0..<1) }
        var pixels: [UInt32] = []
        pixels.reserveCapacity(area.count)
        for y in area.rows {
            for index in y * frame.width + area.columns.lowerBound..<y * frame.width + area.columns.upperBound {
                pixels.append(canvas.pixels[index] == frame.pixels[index] ? 0 : frame.pixels[index])
            }
        }
        canvas = frame
        if isCleared { canvas.clear(area) }
        return Part(area: area, pixels: pixels, isCleared: isCleared)
    }

    /// The smallest rectangle with all pixels, by their index, of which a closure is true.
    private static func area(of frame: GIFPicture, where isIn: (Int) -> Bool) -> GIFArea {
        var area = GIFArea()
        for y in 0..<frame.height {
            let row = y * frame.width..<(y + 1) * frame.width
            guard let first = row.first(where: isIn), let last = row.last(where: isIn) else { continue }
            area.add(x: first - row.lowerBound, y: y)
            area.add(x: last - row.lowerBound, y: y)
        }
        return area
    }
}
