internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The decode of one load: what has been read of a still picture stays from one preview to the next, and to the image.
final class WebPDecode {
    /// How many parts of the picture's height previews show more of, one after the other.
    private static let previewSteps = 8

    private let context: ImageDecodingContext
    private var watch: DecodingWatch
    private var session: WebPSession?
    /// The stored rows that the session has written.
    private var pixels: PixelBuffer?
    /// What the session was made for.
    private var picture: WebPPicture?
    private var shownRowCount = 0

    init(_ context: ImageDecodingContext) {
        self.context = context
        watch = DecodingWatch(context, codec: ImageDecoders.WebP.codec)
    }

    // MARK: Calls

    /// What the header of complete data tells; works without the library.
    func properties(of data: Data) throws(ImageDecodingError) -> ImageProperties {
        let header = try header(of: data)
        guard header.still != nil || !header.frames.isEmpty else { throw Self.cut }
        var properties = ImageProperties(
            type: .webp, storedWidth: header.width, storedHeight: header.height,
            orientation: header.orientation(in: data), hasAlpha: header.hasAlpha, bitDepth: 8, colorModel: .rgb,
            hasICCProfile: header.profile != nil)
        if header.frames.count > 1 {
            properties.frameCount = header.frames.count
            properties.loopCount = header.loopCount
            properties.frameDurations = header.frames.map { Double($0.duration) / 1000 }
        }
        properties.density = header.exif.flatMap { EXIFDensity.read(from: data.bytes.extracting($0)) }
        let needs = needs(header, data)
        properties.workingSetBytes = needs.kept + needs.beside
        return properties
    }

    /// The final image, of complete data that begins with what previews were made of.
    func image(of data: Data) throws(ImageDecodingError) -> ImageContainer {
        watch.resume()
        let header = try header(of: data)
        try check(header, data)
        let lacksExif = header.missingByteCount > 0 && header.announcesExif && header.exif == nil
        if lacksExif, !isLenient { throw Self.cut }
        var container: ImageContainer
        var isTruncated = lacksExif
        if header.isAnimated {
            (container, isTruncated) = try animation(header, data)
        } else {
            guard let picture = header.still else { throw Self.cut }
            try start(picture, header, data)
            try read(data)
            let isFinished = session?.isFinished == true
            guard isFinished || (isLenient && (session?.rowCount ?? 0) > 0) else { throw Self.cut }
            if !isFinished { isTruncated = true }
            let isOpaque = isFinished && !picture.hasAlpha
            container = try self.container(try takePixels(turn(header, data)), isOpaque: isOpaque, header, data)
        }
        let exif = header.exif.map { data[data.startIndex + $0.lowerBound..<data.startIndex + $0.upperBound] }
        try context.attachMetadata(exif: exif, to: &container)
        if isTruncated { container.userInfo[.isTruncatedKey] = true }
        return container
    }

    /// A preview of the data so far: the rows that are there, if they are enough more than the last one showed; else nil.
    func preview(of data: Data) throws(ImageDecodingError) -> ImageContainer? {
        guard context.previewPolicy == .incremental else { return nil }
        watch.resume()
        defer { watch.stop() }
        guard let header = try partialHeader(of: data) else { return nil }
        // Before it is known how the picture is to be turned it would only be turned before people's eyes.
        if header.announcesExif, header.exif == nil { return nil }
        if header.isAnimated { return try firstFrame(header, data) }
        guard let picture = header.still else { return nil }
        try check(header, data)
        try start(picture, header, data)
        try read(data)
        guard let rowCount = session?.rowCount, let height = pixels?.height,
            rowCount - shownRowCount >= max(1, height / Self.previewSteps)
        else { return nil }
        shownRowCount = rowCount
        guard let copy = pixels?.copy(turnedBy: turn(header, data)) else { throw Self.outOfMemory(header) }
        let isOpaque = rowCount == height && !picture.hasAlpha
        var container = try container(copy, isOpaque: isOpaque, header, data)
        container.isPreview = true
        return container
    }

    // MARK: Still pictures

    /// Begins, unless that was done for the same picture.
    private func start(_ picture: WebPPicture, _ header: WebPHeader, _ data: Data) throws(ImageDecodingError) {
        if session != nil, picture == self.picture { return }
        let reduced = reducedSize(picture, header, data)
        let (width, height) = reduced ?? (picture.width, picture.height)
        guard let pixels = PixelBuffer(width: width, height: height) else { throw Self.outOfMemory(header) }
        session = try WebPSession(picture, reduced: reduced, bytesPerRow: pixels.bytesPerRow)
        self.pixels = consume pixels
        self.picture = picture
    }

    private func read(_ data: Data) throws(ImageDecodingError) {
        let watch = watch
        try pixels?.withBytes { (bytes: inout MutableRawSpan) throws(ImageDecodingError) in
            try session?.read(data.bytes, into: &bytes) { _ throws(ImageDecodingError) in try watch.check() }
        }
    }

    /// The pixels, turned; those as stored are handed on without a copy.
    private func takePixels(_ orientation: ImageOrientation) throws(ImageDecodingError) -> PixelBuffer {
        guard var stored = pixels.take() else { throw Self.cut }
        session = nil
        if orientation == .up { return stored }
        guard let turned = stored.copy(turnedBy: orientation) else {
            throw .outOfMemory("no memory to turn the picture", codec: ImageDecoders.WebP.codec)
        }
        return turned
    }

    // MARK: Animations

    private func animation(
        _ header: WebPHeader, _ data: Data
    ) throws(ImageDecodingError) -> (container: ImageContainer, isTruncated: Bool) {
        let complete = header.frames.filter { $0.picture.isComplete(in: data.count) }
        // A byte that only fills up is missing at the end of some files.
        let isTruncated = header.missingByteCount > 1 || complete.count < header.frames.count
        guard let first = header.frames.first, isLenient || !isTruncated else { throw Self.cut }
        // Of a file that is cut in its first frame what there is of that; else the frames that are whole.
        let frames = WebPFrames(file(complete.isEmpty ? [first] : complete, header, data))
        let poster = try frames.frame(at: 0, watch: DecodingWatch(context, codec: ImageDecoders.WebP.codec))
        var container = try container(poster, header, data)
        if complete.count > 1 {
            container.animation = ImageAnimation(
                storedDurations: complete.map { Double($0.duration) / 1000 },
                playCount: header.loopCount == 0 ? nil : header.loopCount, frames: frames)
        }
        return (container, isTruncated)
    }

    /// The first frame as the one preview of an animation, once it is there as a whole.
    private func firstFrame(_ header: WebPHeader, _ data: Data) throws(ImageDecodingError) -> ImageContainer? {
        guard shownRowCount == 0, let first = header.frames.first, first.picture.isComplete(in: data.count) else {
            return nil
        }
        try check(header, data)
        let frames = WebPFrames(file([first], header, data))
        var container = try container(
            frames.frame(at: 0, watch: DecodingWatch(context, codec: ImageDecoders.WebP.codec)), header, data)
        container.isPreview = true
        shownRowCount = header.height
        return container
    }

    private func file(_ frames: [WebPHeader.Frame], _ header: WebPHeader, _ data: Data) -> WebPComposer.File {
        WebPComposer.File(
            data: data, width: header.width, height: header.height, frames: frames, orientation: turn(header, data),
            colorSpace: header.colorSpace(in: data, limits: context.limits), limits: context.limits,
            isLenient: isLenient)
    }

    // MARK: Parts

    private var isLenient: Bool { context.truncationPolicy == .lenient }

    private func header(of data: Data) throws(ImageDecodingError) -> WebPHeader {
        try WebPHeader(data.bytes, frameLimit: context.limits.frameCount)
    }

    /// The header of data of which more is to come; nil if there is not enough of it yet.
    private func partialHeader(of data: Data) throws(ImageDecodingError) -> WebPHeader? {
        do throws(ImageDecodingError) {
            return try header(of: data)
        } catch {
            if error.code == .truncated { return nil }
            throw error
        }
    }

    /// What the stored rows are turned by.
    private func turn(_ header: WebPHeader, _ data: Data) -> ImageOrientation {
        let keepsLayout = context.request.thumbnail?.createThumbnailWithTransform == false
        return keepsLayout ? .up : header.orientation(in: data)
    }

    /// The size to reduce a still picture to, as stored; nil to keep every pixel.
    ///
    /// A lossy picture with alpha is never reduced: the library would do so before it multiplies colour by alpha, so that
    /// colours which nobody sees would show at edges.
    private func reducedSize(
        _ picture: WebPPicture, _ header: WebPHeader, _ data: Data
    ) -> (width: Int, height: Int)? {
        guard picture.isLossless || !picture.hasAlpha else { return nil }
        let (size, orientation) = (ImageSize(width: picture.width, height: picture.height), turn(header, data))
        guard let hint = context.decodeHint(for: orientation.applied(to: size)) else { return nil }
        return RowShrinker.reducedSize(of: size, for: orientation.applied(to: hint))
    }

    /// Bytes of the pixels that are kept, and of what is held beside them.
    private func needs(_ header: WebPHeader, _ data: Data) -> (kept: Int, beside: Int) {
        let bytesPerPixel = PixelFormat.rgba8.bytesPerPixel
        guard let picture = header.still else {
            // A canvas and what is handed out of it, the frame that is being put over it, and what that takes to decode.
            let canvas = header.width * header.height * bytesPerPixel
            let frames = header.frames.map { $0.picture.byteCount + $0.picture.codecByteCount }
            return (canvas, canvas + (frames.max() ?? 0))
        }
        let (width, height) = reducedSize(picture, header, data) ?? (picture.width, picture.height)
        let kept = width * height * bytesPerPixel
        return (kept, picture.codecByteCount + width * 64 + (turn(header, data) == .up ? 0 : kept))
    }

    /// Throws unless the picture, and what is held at once of it, is within the limits.
    private func check(_ header: WebPHeader, _ data: Data) throws(ImageDecodingError) {
        let needs = needs(header, data)
        try context.limits.check(
            width: header.width, height: header.height, decodedBytes: needs.kept, codecBytes: needs.beside,
            codec: ImageDecoders.WebP.codec)
    }

    private func container(
        _ pixels: consuming PixelBuffer, isOpaque: Bool, _ header: WebPHeader, _ data: Data
    ) throws(ImageDecodingError) -> ImageContainer {
        let colorSpace = header.colorSpace(in: data, limits: context.limits)
        return try container(pixels.freeze(isOpaque: isOpaque, colorSpace: colorSpace), header, data)
    }

    private func container(
        _ image: Bitmap, _ header: WebPHeader, _ data: Data
    ) throws(ImageDecodingError) -> ImageContainer {
        let orientation = turn(header, data)
        let size = ImageSize(width: header.width, height: header.height)
        return try context.makeContainer(
            image: image, type: .webp, originalSize: orientation.applied(to: size),
            orientation: orientation == .up ? header.orientation(in: data) : .up)
    }

    private static var cut: ImageDecodingError {
        .truncated("the data ends before the picture does", codec: ImageDecoders.WebP.codec)
    }

    private static func outOfMemory(_ header: WebPHeader) -> ImageDecodingError {
        .outOfMemory("no memory for \(header.width)x\(header.height) pixels", codec: ImageDecoders.WebP.codec)
    }
}

extension WebPHeader {
    /// Whether a pixel can be other than opaque.
    ///
    /// By what is coded: the flag of the VP8X chunk stands in files that have no alpha, too.
    var hasAlpha: Bool {
        if let still { return still.hasAlpha }
        return CanvasState.states(of: frames, width: width, height: height).contains { !$0.isOpaque }
    }

    /// The orientation in the EXIF data; up without.
    func orientation(in data: Data) -> ImageOrientation {
        exif.map { EXIFOrientation.read(from: data.bytes.extracting($0)) } ?? .up
    }

    /// The embedded profile, if it is one for RGB and no larger than metadata may be; its bytes are copied.
    func colorSpace(in data: Data, limits: ImageLimits) -> ColorSpace {
        guard let profile, profile.count <= limits.metadataBytes else { return .sRGB }
        let start = data.startIndex
        let bytes = [UInt8](data[start + profile.lowerBound..<start + profile.upperBound])
        return ColorSpace(iccProfile: Data(bytes), for: .rgba8) ?? .sRGB
    }
}
