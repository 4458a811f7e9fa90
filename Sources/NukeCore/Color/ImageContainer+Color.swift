extension ImageContainer {
    /// Brings the picture, and the frames of its animation, to sRGB, unless the request wants the original's colour space.
    ///
    /// Profiles that differ from sRGB by no more than one code value are just dropped. Those of tables are the converter's;
    /// what it can't convert stays, and the colours with it.
    package mutating func convertToSRGB(
        for request: ImageRequest, by converter: (any ColorConverting)? = ColorManagement.shared.converter
    ) {
        if request.options.contains(.preserveColorSpace) { return }
        if let animation { self.animation = animation.adding(.colors(converter)) }
        guard image.colorSpace != .sRGB else { return }
        var bitmap = image
        // What is not held twice is changed in place.
        image = .blank
        Bitmap.convertToSRGB(&bitmap, by: converter)
        image = bitmap
    }
}

extension Bitmap {
    /// See `ImageContainer.convertToSRGB`; `bitmap` becomes another one.
    static func convertToSRGB(_ bitmap: inout Bitmap, by converter: (any ColorConverting)?) {
        guard let profile = bitmap.colorSpace.iccProfile else { return }
        switch ColorTransforms.step(for: profile) {
        case .leave:
            let (isOpaque, scale) = (bitmap.isOpaque, bitmap.scale)
            guard let colors = ManagedColors(bitmap.colorSpace, bitmap.format, by: converter),
                var pixels = PixelBuffer(taking: &bitmap)
            else { return }
            colors.convert(&pixels, isOpaque: isOpaque)
            bitmap = pixels.freeze(isOpaque: isOpaque, scale: scale)
        case .relabel: bitmap = bitmap.withColorSpace(.sRGB)
        case .convert(let transform):
            let (isOpaque, scale, format) = (bitmap.isOpaque, bitmap.scale, bitmap.format)
            guard var pixels = PixelBuffer(taking: &bitmap) else { return }
            pixels.withBytes { bytes in
                switch format {
                case .rgba8: transform.convertRGBA8(&bytes, isOpaque: isOpaque)
                case .gray8: transform.convertGray8(&bytes)
                case .rgba16: transform.convertRGBA16(&bytes)
                }
            }
            bitmap = pixels.freeze(isOpaque: isOpaque, scale: scale)
        }
    }
}
