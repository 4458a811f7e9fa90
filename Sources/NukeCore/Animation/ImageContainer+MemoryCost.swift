#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension ImageContainer {
    /// Bytes that are held for the image: pixels, attached data, and what draws it again or decodes its frames.
    ///
    /// Data that is attached and that frames are decoded from as well counts once. What `AnimatedImageFramePool` holds for
    /// players is not counted.
    public var memoryCost: Int {
        var cost = image.byteCount + (data?.count ?? video?.data?.count ?? 0)
        if let drawn = vector?.compressedData, data?.bytes.isIdentical(to: drawn.bytes) != true { cost += drawn.count }
        guard let animation else { return cost }
        cost += animation.canvasByteCount
        if let compressed = animation.compressedData, data?.bytes.isIdentical(to: compressed.bytes) != true {
            cost += compressed.count
        }
        return cost
    }
}
