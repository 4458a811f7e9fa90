internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A document with what a look over it tells: how large it is, and how much work it may make.
struct SVGPicture: Sendable {
    /// The document, decompressed.
    let text: Data
    /// The size that it gives itself, in pixels at a scale of 1.
    let size: ImageSize
    /// Whether there is text to be drawn.
    var hasText: Bool { survey.hasText }

    /// Pixels that a unit of the document has at the picture's own size.
    private let unit: Double
    private let survey: SVGSurvey

    /// What filters may do together: layers of noise and radii, times a million pixels.
    private static let filterWork = 50.0
    /// The greatest side that cairo's images have.
    private static let sideLength = 32_767

    /// Looks over a document.
    ///
    /// - Parameters:
    ///   - data: All of the file.
    ///   - limit: Bytes that it may have, compressed and decompressed.
    ///   - library: What decompresses; nil: the system's.
    init(_ data: Data, limit: Int, library: SVGLibrary?) throws(ImageDecodingError) {
        let codec = ImageDecoders.SVG.codec
        guard data.count <= limit else {
            throw .limitExceeded("\(data.count) bytes; a document may have \(limit)", codec: codec)
        }
        if SVGSniffer.isCompressed(data) {
            let library = library ?? .shared
            if let defect = library.defect { throw .missingCodec(defect, codec: codec) }
            text = try library.inflate(data, limit: limit, isPrefix: false)
        } else {
            text = data
        }
        var survey = SVGSurvey()
        guard let root = try survey.read(SVGScanner(text)) else {
            throw .corruptData("there is no element svg at its root", codec: codec)
        }
        let told = try SVGSize(root: root)
        size = told.size
        unit = min(told.size.width / told.viewBox.width, told.size.height / told.viewBox.height)
        self.survey = survey
    }

    /// The size in pixels at a scale, rounded up as librsvg's own program does, lest anything be cut off.
    func pixelSize(scale: Double) -> ImageSize {
        func side(_ length: Double) -> Double {
            let side = (length * scale - 1e-6).rounded(.up)
            return side >= 1 ? min(1e9, side) : 1
        }
        return ImageSize(width: side(size.width), height: side(size.height))
    }

    /// Throws if drawing at a size would be too much, by the limits or by what the filters do.
    func check(width: Int, height: Int, _ limits: ImageLimits) throws(ImageDecodingError) {
        let codec = ImageDecoders.SVG.codec
        try limits.check(width: width, height: height, codec: codec)
        guard max(width, height) <= Self.sideLength else {
            throw .limitExceeded(
                "\(width)x\(height) pixels; a side may have \(Self.sideLength) where shapes are drawn", codec: codec)
        }
        let drawn = ImageSize(width: width, height: height)
        let work = survey.filterWork(pixelsPerUnit: pixelsPerUnit(drawn)) * Double(width * height) / 1e6
        guard work <= Self.filterWork else {
            throw .limitExceeded("its filters are too much work for \(width)x\(height) pixels", codec: codec)
        }
        let held = survey.layerBytes(drawn, pixelsPerUnit: pixelsPerUnit(drawn))
        guard held + Double(width * height * 4) <= Double(limits.workingSetBytes) else {
            throw .limitExceeded(
                """
                its filters, patterns and embedded images need more than \(limits.workingSetBytes >> 20) MiB, which a \
                decode may hold
                """, codec: codec)
        }
    }

    /// Bytes that drawing at a size holds: the pixels, what filters and patterns have beside them, and the elements.
    func workingSet(_ drawn: ImageSize) -> Int {
        let layers = survey.layerBytes(drawn, pixelsPerUnit: pixelsPerUnit(drawn))
        return Int(min(1e15, drawn.width * drawn.height * 4 + layers)) + text.count * 32
    }

    private func pixelsPerUnit(_ drawn: ImageSize) -> Double {
        unit * max(drawn.width / size.width, drawn.height / size.height)
    }
}
