/// What is downloaded; also what can be resumed.
///
/// Never the `imageID` override: it names pictures, not bytes.
struct DownloadKey: Hashable, Sendable {
    let resourceID: String
    let cachePolicy: DataRequest.CachePolicy
}

/// What is decoded: a download, seen at a scale, as a thumbnail, or no larger than its first processor needs.
struct OriginalImageKey: Hashable, Sendable {
    let download: DownloadKey
    let scale: Double
    let thumbnail: ImageRequest.ThumbnailOptions?
    let hint: ProcessorList
    let options: ImageRequest.Options
    let videoPoster: ImageRequest.VideoPoster?

    init(_ request: ImageRequest, hintedBy processor: (any ImageProcessing)?) {
        download = request.downloadKey
        scale = request.scale
        thumbnail = request.resolvedThumbnail
        hint = ProcessorList(processor.map { [$0] } ?? [])
        options = request.decodingOptions
        videoPoster = request.videoPoster
    }
}

/// What is delivered, and under which identity it is cached.
struct LoadImageKey: Hashable, Sendable {
    let original: OriginalImageKey
    let processors: ProcessorList
    let options: ImageRequest.Options
    let imageID: String?

    init(_ request: ImageRequest, hintedBy processor: (any ImageProcessing)?) {
        original = OriginalImageKey(request, hintedBy: processor)
        processors = ProcessorList(request.resolvedProcessors)
        options = request.options
        imageID = request.imageIDOverride
    }
}

extension ImageRequest {
    /// The identity of the picture in caches.
    var cacheID: String { imageIDOverride ?? resourceID }

    /// The processors as they count in identities: with lengths in pixels, as the request's scale makes them.
    var resolvedProcessors: [any ImageProcessing] {
        scale == 1 ? processors : processors.map { $0.inPixels(scale: scale) }
    }

    /// The thumbnail as it counts in identities and decodes, in pixels likewise.
    var resolvedThumbnail: ThumbnailOptions? { thumbnail?.inPixels(scale: scale) }

    var downloadKey: DownloadKey {
        DownloadKey(resourceID: resourceID, cachePolicy: dataRequest?.cachePolicy ?? .useProtocolCachePolicy)
    }

    /// The options that count in identities.
    var decodingOptions: Options { options.intersection(.decoding) }

    /// The processor whose decode hint counts: the first one to run, if it gives any.
    ///
    /// Asked with a picture of the largest size there can be, as the real size is not known before the download. Two
    /// requests share a decode if this processor is the same, or none.
    var hintingProcessor: (any ImageProcessing)? {
        guard thumbnail == nil, var first = processors.first else { return nil }
        while let composition = first as? ImageProcessors.Composition {
            guard let inner = composition.processors.first else { return nil }
            first = inner
        }
        return first.decodeHint(for: ImageSize(width: 65_535, height: 65_535)) == nil
            ? nil : first.inPixels(scale: scale)
    }

    /// The key of the original data on disk.
    var originalDataKey: String { KeyParts.join([cacheID]) }

    /// The key of this request's result on disk; the original's, if the request asks for nothing but that.
    var dataKey: String {
        if thumbnail == nil, processors.isEmpty, videoPoster == nil { return originalDataKey }
        let options =
            (decodingOptions.isEmpty ? [] : [decodingOptions.description])
            + (videoPoster.map { ["poster:" + $0.identifier] } ?? [])
        return KeyParts.join(
            [cacheID, resolvedThumbnail?.identifier ?? ""] + resolvedProcessors.map(\.identifier) + options)
    }
}
