extension ImageContainer {
    /// Has the frames of the animation get the scale that a request gives, and become the thumbnails that it wants.
    ///
    /// What the decoder has done to the poster.
    mutating func reduceFrames(for request: ImageRequest) {
        guard var animation else { return }
        if let thumbnail = request.resolvedThumbnail { animation = animation.adding(.thumbnail(thumbnail)) }
        self.animation = animation.adding(.scale(request.scale))
    }
}
