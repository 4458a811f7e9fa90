internal import NukeCore

/// How the decoded planes of one picture become pixels: whole or reduced.
struct HEIFRendering {
    private let width: Int
    private let height: Int
    private let picture: HEIFReader.Picture
    /// The size to reduce to; nil to keep every pixel.
    private let reduced: (width: Int, height: Int)?

    /// Plans by the size that the container tells.
    init(_ picture: HEIFReader.Picture, _ context: ImageDecodingContext) {
        self.init(width: picture.width, height: picture.height, picture, context)
    }

    /// Plans by the size that was decoded.
    init(width: Int, height: Int, _ picture: HEIFReader.Picture, _ context: ImageDecodingContext) {
        self.width = width
        self.height = height
        self.picture = picture
        let size = ImageSize(width: width, height: height)
        reduced = context.decodeHint(for: size).flatMap { RowShrinker.reducedSize(of: size, for: $0) }
    }

    /// Throws unless the picture as it is coded, and what decoding holds at once, are within the limits.
    func check(_ limits: ImageLimits, codec: String) throws(ImageDecodingError) {
        // The coded size is what is decoded; a crop to a small part of it makes it no cheaper.
        try limits.check(
            width: picture.codedWidth, height: picture.codedHeight, decodedBytes: keptBytes,
            codecBytes: codecBytes, codec: codec)
        try limits.check(
            width: width, height: height, decodedBytes: keptBytes, codecBytes: codecBytes, codec: codec)
    }

    /// Bytes that will be held at once.
    var workingSetBytes: Int {
        let (sum, overflow) = keptBytes.addingReportingOverflow(codecBytes)
        return overflow ? .max : sum
    }

    private var keptBytes: Int { Self.product(reduced?.width ?? width, reduced?.height ?? height, 4) }

    /// Bytes beside the pixels that are kept.
    ///
    /// Samples a pixel: the codec has 1.5 and libheif a copy of them, of which it makes 3; of a grid the first two are those of
    /// one tile. Alpha is two planes more.
    private var codecBytes: Int {
        let samples = (picture.isDerived ? 4 : 6) + (picture.hasAlpha ? 2 : 0)
        return Self.product(picture.codedWidth, picture.codedHeight, samples * (picture.bitDepth > 8 ? 2 : 1))
    }

    /// Reads the picture.
    func pixels(
        from reader: borrowing HEIFReader, watch: DecodingWatch
    ) throws(ImageDecodingError) -> PixelBuffer {
        guard let reduced else { return try wholePixels(from: reader, watch: watch) }
        // Planes are averaged in blocks before they are converted, as far as that leaves the size wanted: conversion and
        // averaging may change places, but not where colours are still to be multiplied by alpha.
        let ratio = min(width / reduced.width, height / reduced.height)
        let reduction = picture.hasAlpha || ratio < 2 ? 1 : ratio < 4 ? 2 : 4
        let sourceWidth = (width + reduction - 1) / reduction
        let sourceHeight = (height + reduction - 1) / reduction
        let shrinker = RowShrinker(
            sourceWidth: sourceWidth, sourceHeight: sourceHeight, width: reduced.width, height: reduced.height)
        guard var shrinker, var row = PixelBuffer(width: sourceWidth, height: 1) else {
            throw outOfMemory(reduced.width, reduced.height, watch)
        }
        for y in 0..<sourceHeight {
            try watch.check(row: y)
            row.withRow(0) { bytes in
                reader.readRow(y, width: sourceWidth, reduction: reduction, into: &bytes)
                shrinker.append(bytes.bytes)
            }
        }
        return shrinker.finish()
    }

    private func wholePixels(
        from reader: borrowing HEIFReader, watch: DecodingWatch
    ) throws(ImageDecodingError) -> PixelBuffer {
        guard var pixels = PixelBuffer(width: width, height: height) else { throw outOfMemory(width, height, watch) }
        for y in 0..<height {
            try watch.check(row: y)
            pixels.withRow(y) { bytes in reader.readRow(y, width: width, reduction: 1, into: &bytes) }
        }
        return pixels
    }

    private func outOfMemory(_ width: Int, _ height: Int, _ watch: DecodingWatch) -> ImageDecodingError {
        .outOfMemory("no memory for \(width)x\(height) pixels", codec: watch.codec)
    }

    /// The largest number if it overflows, which is above any limit.
    private static func product(_ width: Int, _ height: Int, _ factor: Int) -> Int {
        let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
        let (bytes, bytesOverflow) = pixels.multipliedReportingOverflow(by: factor)
        return overflow || bytesOverflow ? .max : bytes
    }
}
