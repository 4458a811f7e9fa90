internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The decode of one load: what has been read of the file stays from one preview to the next, and to the final image.
final class JPEGDecode {
    /// Rows of blocks, of 8 to 32 rows of pixels, taken in before looking up.
    private static let stepsAtOnce = 2

    private let context: ImageDecodingContext
    /// The orientation to go by in place of the file's own.
    private let givenOrientation: ImageOrientation?
    private var session: JPEGSession
    private var watch: DecodingWatch
    private var header: JPEGHeader?
    private var reader: JPEGPixelReader?
    private var shownScan = 0
    private var previewCount = 0
    private var hasTriedThumbnail = false

    init(_ context: ImageDecodingContext, orientation: ImageOrientation? = nil) throws(ImageDecodingError) {
        self.context = context
        givenOrientation = orientation
        session = try JPEGSession(context)
        watch = DecodingWatch(context, codec: JPEGSession.codec)
    }

    // MARK: Calls

    /// What the header of complete data tells.
    func properties(of data: Data) throws(ImageDecodingError) -> ImageProperties {
        session.take(data, isComplete: true)
        let header = try completeHeader()
        var properties = header.properties
        properties.workingSetBytes = header.decodedBytes(reducedBy: denominator(header)) + header.codecBytes
        return properties
    }

    /// The final image, of complete data that begins with what previews were made of.
    func image(of data: Data) throws(ImageDecodingError) -> ImageContainer {
        watch.resume()
        session.take(data, isComplete: true)
        let header = try completeHeader()
        if context.prefersEmbeddedThumbnail, let thumbnail = try embeddedThumbnail(header, data, isFinal: true) {
            return thumbnail
        }
        let reader = try start(header)
        if header.hasMultipleScans {
            while try !takeIn().isFinished {}
            try session.startPass(scan: nil)
        }
        var container = try container(header, try pixels(reader))
        try attachMetadata(to: &container, header, data)
        if session.isTruncated { container.userInfo[.isTruncatedKey] = true }
        if previewCount > 0 { container.userInfo[.scanNumberKey] = previewCount }
        return container
    }

    /// A preview of the data so far; nil if there is nothing new to show.
    ///
    /// Of progressive files, whenever another scan is there as a whole. Keeps nothing of the data.
    func preview(of data: Data) throws(ImageDecodingError) -> ImageContainer? {
        watch.resume()
        session.take(data, isComplete: false)
        defer {
            session.take(Data(), isComplete: false)
            watch.stop()
        }
        if header == nil { header = try session.readHeader() }
        guard let header, wantsPreview(header) else { return nil }
        if context.previewPolicy == .thumbnail, !hasTriedThumbnail {
            hasTriedThumbnail = true
            if let thumbnail = try embeddedThumbnail(header, data, isFinal: false) { return preview(thumbnail) }
        }
        guard header.isProgressive else { return nil }
        let reader = try start(header)
        var progress: JPEGSession.Progress
        repeat { progress = try takeIn() } while !progress.isFinished && !progress.isWaiting
        guard progress.showableScan > shownScan else { return nil }
        try session.startPass(scan: progress.showableScan)
        let pixels = try pixels(reader)
        shownScan = progress.showableScan
        return preview(try container(header, pixels))
    }

    private func wantsPreview(_ header: JPEGHeader) -> Bool {
        switch context.previewPolicy {
        case .incremental: header.isProgressive
        case .thumbnail: previewCount == 0
        case .disabled: false
        }
    }

    private func preview(_ container: ImageContainer) -> ImageContainer {
        previewCount += 1
        var container = container
        container.isPreview = true
        container.userInfo[.scanNumberKey] = previewCount
        return container
    }

    // MARK: Steps

    private func completeHeader() throws(ImageDecodingError) -> JPEGHeader {
        if let header { return header }
        guard let header = try session.readHeader() else {
            throw .truncated("the data ends before the picture begins", codec: JPEGSession.codec)
        }
        self.header = header
        return header
    }

    /// What the stored rows are turned by.
    private func turn(_ header: JPEGHeader) -> ImageOrientation {
        let keepsLayout = context.request.thumbnail?.createThumbnailWithTransform == false
        return keepsLayout ? .up : givenOrientation ?? header.orientation
    }

    /// The divisor by which the context lets the picture be reduced.
    private func denominator(_ header: JPEGHeader) -> Int {
        let orientation = turn(header)
        let hint = context.decodeHint(for: orientation.applied(to: header.storedSize))
        return header.denominator(for: hint.map { orientation.applied(to: $0) })
    }

    /// Checks the limits and begins, at the size that the context hints at; does nothing the second time.
    private func start(_ header: JPEGHeader) throws(ImageDecodingError) -> JPEGPixelReader {
        if let reader { return reader }
        guard header.colorModel != nil else {
            throw .unsupported("unknown number of colour components", codec: JPEGSession.codec)
        }
        let denominator = denominator(header)
        // The whole picture counts for its sides and pixels, the reduced one for the memory.
        try context.limits.check(
            width: header.width, height: header.height, decodedBytes: header.decodedBytes(reducedBy: denominator),
            codecBytes: header.codecBytes, codec: JPEGSession.codec)
        let (width, height) = try session.start(denominator: denominator)
        let colors = header.colorModel == .cmyk ? header.iccProfile.flatMap(transform) : nil
        if colors != nil { session.keepCMYK() }
        let reader = JPEGPixelReader(width: width, height: height, orientation: turn(header), colors: colors)
        self.reader = reader
        return reader
    }

    /// The way from CMYK to sRGB by a profile; nil where nobody knows it.
    private func transform(_ profile: Data) -> (any ColorTransforming)? {
        context.colorConverter?.transform(from: profile, for: .cmyk8)
    }

    private func takeIn() throws(ImageDecodingError) -> JPEGSession.Progress {
        try watch.check()
        return try session.consume(steps: Self.stepsAtOnce)
    }

    private func pixels(_ reader: JPEGPixelReader) throws(ImageDecodingError) -> PixelBuffer {
        try reader.pixels(from: session) { _ throws(ImageDecodingError) in try watch.check() }
    }

    private func container(
        _ header: JPEGHeader, _ pixels: consuming PixelBuffer
    ) throws(ImageDecodingError) -> ImageContainer {
        let orientation = turn(header)
        var container = try context.makeContainer(
            image: pixels.freeze(isOpaque: true, colorSpace: header.colorSpace), type: .jpeg,
            originalSize: orientation.applied(to: header.storedSize),
            orientation: orientation == .up ? givenOrientation ?? header.orientation : .up,
            isEmbeddedThumbnail: givenOrientation != nil)
        if header.colorModel == .cmyk {
            let conversion: ImageContainer.ColorConversion = reader?.colors == nil ? .plainCMYK : .managedCMYK
            container.userInfo[.colorConversionKey] = conversion
        }
        return container
    }

    /// The thumbnail in the EXIF data, which is turned as the picture is; nil if there is none that decodes.
    ///
    /// As a preview it stands for the picture, so it is said to be a reduction of that.
    private func embeddedThumbnail(
        _ header: JPEGHeader, _ data: Data, isFinal: Bool
    ) throws(ImageDecodingError) -> ImageContainer? {
        // A thumbnail has none of its own, whatever it says.
        guard givenOrientation == nil, let range = header.thumbnail, range.upperBound <= data.count else { return nil }
        let start = data.startIndex
        let file = data[start + range.lowerBound..<start + range.upperBound]
        do throws(ImageDecodingError) {
            var container = try JPEGDecode(context, orientation: header.orientation).image(of: file)
            if isFinal {
                try attachMetadata(to: &container, header, data)
            } else {
                container.originalSize = turn(header).applied(to: header.storedSize)
            }
            return container
        } catch {
            if error.code == .cancelled { throw error }
            return nil
        }
    }

    private func attachMetadata(
        to container: inout ImageContainer, _ header: JPEGHeader, _ data: Data
    ) throws(ImageDecodingError) {
        guard givenOrientation == nil, header.exif.upperBound <= data.count else { return }
        let start = data.startIndex
        let exif = data[start + header.exif.lowerBound..<start + header.exif.upperBound]
        try context.attachMetadata(exif: exif, to: &container)
    }
}
