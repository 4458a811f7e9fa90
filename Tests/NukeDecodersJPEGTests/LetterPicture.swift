import FoundationEssentials
import NukeCore
import NukeDecodersJPEG
import NukeTestSupport

/// A picture of two columns and three rows of flat cells, each of a colour of its own, stored in some orientation.
///
///     a b
///     c d
///     e f
struct LetterPicture {
    /// The rows that are seen when the stored picture is turned as an orientation says, from 1 on.
    static let upright = [
        ["ab", "cd", "ef"], ["ba", "dc", "fe"], ["fe", "dc", "ba"], ["ef", "cd", "ab"],
        ["ace", "bdf"], ["eca", "fdb"], ["fdb", "eca"], ["bdf", "ace"],
    ]

    private static let colors: [(letter: Character, color: [Double])] = [
        ("a", [0.8, 0.2, 0.2]), ("b", [0.2, 0.8, 0.2]), ("c", [0.2, 0.2, 0.8]),
        ("d", [0.8, 0.8, 0.2]), ("e", [0.2, 0.8, 0.8]), ("f", [0.8, 0.2, 0.8]),
    ]

    /// The file; cells have `side` pixels each way.
    static func file(side: Int, orientation: Int? = nil, isProgressive: Bool = false, thumbnail: Data? = nil) throws
        -> Data
    {
        let picture = try Picture.make(width: 2 * side, height: 3 * side) { x, y in
            colors[y / side * 2 + x / side].color + [1]
        }
        let options = ImageEncodingOptions(quality: 1, chromaSubsampling: .none, isProgressive: isProgressive)
        var file = JPEGFile(ImageEncoders.JPEG(options: options).encode(picture) ?? Data())
        if let orientation {
            file.segments.insert(JPEGFile.exif(orientation: orientation, thumbnail: thumbnail), at: 0)
        }
        return file.data
    }

    /// The letters of a picture whose cells have `side` pixels each way, row by row; "?" is none of the colours.
    static func letters(_ image: Bitmap, side: Int) -> [String] {
        stride(from: side / 2, to: image.height, by: side).map { y in
            String(
                stride(from: side / 2, to: image.width, by: side).map { x in
                    let pixel = image.pixel(x, y)
                    let near = colors.first { _, color in
                        zip(color, pixel).allSatisfy { abs($0 * 255 - Double($1)) <= 24 }
                    }
                    return near?.letter ?? "?"
                })
        }
    }
}
