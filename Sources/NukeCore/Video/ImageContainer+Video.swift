extension ImageVideo {
    /// Bytes of a video that are kept with its poster in the memory cache: 8 MB.
    ///
    /// Of more there is a reference, by which they are loaded again when they are wanted.
    public static let keptByteCount = 8 << 20
}

extension ImageContainer {
    /// The same with a reference in place of the bytes of a video, where there are too many.
    var withoutLargeVideo: ImageContainer {
        guard let video, let count = video.data?.count, count > ImageVideo.keptByteCount else { return self }
        var container = self
        container.video = video.reference
        container.userInfo[.videoAssetKey] = container.video
        container.data = nil
        return container
    }
}
