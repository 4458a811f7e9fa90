import FoundationEssentials
import NukeCore
import NukePix

/// Pictures and files for tests.
enum TestPictures {
    /// A picture whose colours run from edge to edge.
    static func picture(_ width: Int, _ height: Int, alpha: UInt8 = 255, blue: Int = 0) -> Bitmap? {
        guard var buffer = PixelBuffer(width: width, height: height) else { return nil }
        for y in 0..<height {
            let row = (0..<width).flatMap { x in
                [x * 255 / width, y * 255 / height, blue].map { UInt8($0 * Int(alpha) / 255) } + [alpha]
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
