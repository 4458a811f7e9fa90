import NukeCore

/// A processor that hints at a size, and calls back when it is asked, which is before the first pixel.
struct DecodeHint: ImageProcessing {
    let size: ImageSize?
    var onAsked: @Sendable () -> Void = {}
    var identifier: String { "hint" }
    func process(_ image: PlatformImage) -> PlatformImage? { image }
    func decodeHint(for original: ImageSize) -> ImageSize? {
        onAsked()
        return size
    }
}
