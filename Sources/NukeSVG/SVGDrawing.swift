internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Draws one document at any size, within the limits that its load had.
struct SVGDrawing: ImageVectorDrawing {
    let picture: SVGPicture
    let options: ImageDecoders.SVG.Options
    let limits: ImageLimits
    let priority: ImageRequest.Priority
    let library: SVGLibrary
    let threads: SVGThreads

    var compressedData: Data? { picture.text }

    func image(width: Int, height: Int) async throws -> Bitmap {
        try await job(width: width, height: height).image()
    }

    /// Puts the drawing into the queue; throws if it would be too much.
    func job(width: Int, height: Int) throws(ImageDecodingError) -> SVGJob {
        if let defect = library.defect { throw .missingCodec(defect, codec: ImageDecoders.SVG.codec) }
        try picture.check(width: width, height: height, limits)
        let seconds = min(limits.seconds, options.seconds)
        guard seconds > 0 else {
            throw .limitExceeded("drawing may take no time at all", codec: ImageDecoders.SVG.codec)
        }
        let interruption = SVGInterruption(library)
        return SVGJob(
            seconds: seconds, priority: priority, threads: threads,
            interruption: interruption
        ) { () throws(ImageDecodingError) in
            if picture.hasText { FontWatch.check(library) }
            return try library.draw(picture, width: width, height: height, options: options, interruption: interruption)
        }
    }
}

/// Tells once if there is text to be drawn and there are no fonts.
private enum FontWatch {
    private static let hasLooked = Lock(false)

    static func check(_ library: SVGLibrary) {
        let isFirst = hasLooked.withLock { hasLooked in
            defer { hasLooked = true }
            return !hasLooked
        }
        guard isFirst, !library.hasFonts else { return }
        Diagnostics.send(
            .init(
                .warning, "SVG: no fonts are installed, so text is left out",
                fields: [("remedy", .text("install a package of fonts, such as fonts-dejavu-core"))]))
    }
}
