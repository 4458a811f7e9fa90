import FoundationEssentials
import NukeKit

// What the blocks take for granted: the reader has a URL, a store of bytes and a place to show an image.
let url = URL(filePath: "/tmp/photo.jpg")
let urls = [url]
let image = Bitmap.transparentPixel

struct Storage: Sendable {
    func bytes(of name: String) async throws -> Data { Data(name.utf8) }
}
let storage = Storage()

@MainActor func show(_ image: PlatformImage) {}

extension Bitmap {
    static let transparentPixel: Bitmap = {
        guard let buffer = PixelBuffer(width: 1, height: 1) else { preconditionFailure("no memory for one pixel") }
        return buffer.freeze()
    }()
}
