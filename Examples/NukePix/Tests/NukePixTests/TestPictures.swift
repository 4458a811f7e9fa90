import FoundationEssentials
import NukeCore
import NukePix

/// Pictures and files for tests.
enum TestPictures {
    /// A picture whose colours run from edge to edge.
    static func picture(_ width: Int, _ height: Int, alpha: UInt8 = 255, blue: Int = 0) -> Bitmap? {
        guard var buffer = PixelBuffer(width: width, height: height) else { return nil }
        for y in 0..<height {
            var row: [UInt8] = []
            for x in 0..<width {
                for color in [x * 255 / width, y * 255 / height, blue] { row.append(UInt8(color * Int(alpha) / 255)) }
                row.append(alpha)
            }
            buffer.writeStoredRow(row.span.bytes, at: y, orientation: .up)
        }
        return buffer.freeze(isOpaque: alpha == 255)
    }

    /// A Pix file of such a picture.
    static func file(_ width: Int, _ height: Int, alpha: UInt8 = 255, blue: Int = 0) -> Data {
        picture(width, height, alpha: alpha, blue: blue).flatMap { PixEncoder().encode($0) } ?? Data()
    }
}
