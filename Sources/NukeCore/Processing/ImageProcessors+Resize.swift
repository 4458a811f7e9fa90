extension ImageProcessors {
    /// Resizes an image, keeping its shape unless it is cropped; never enlarges unless told.
    ///
    /// Sizes are those of the upright picture. Sides are rounded to the nearest whole pixel. When the decoder delivers a
    /// reduced picture, the result has exactly the size that the whole one would give.
    public struct Resize: ImageProcessing, Hashable, CustomStringConvertible {
        /// The other side of the forms that give one.
        private static let unbounded = 9999.0
        /// The longest side a result may have.
        private static let maximumSide = 1_073_741_824.0

        private let width: Float
        private let height: Float
        private let unit: LengthUnit
        private let contentMode: ImageProcessingOptions.ContentMode
        private let crop: Bool
        private let upscale: Bool

        /// Creates a processor that brings images to a size.
        ///
        /// - Parameters:
        ///   - size: The size to fill or fit; a side that is not a positive, finite number makes processing fail.
        ///   - unit: What the size is measured in; points by default.
        ///   - contentMode: Whether to fill or to fit; filling by default.
        ///   - crop: Whether to cut what sticks out when filling, centred; no effect when fitting. False by default.
        ///   - upscale: Whether images smaller than the size are enlarged; false by default.
        public init(
            size: ImageSize, unit: ImageProcessingOptions.Unit = .points,
            contentMode: ImageProcessingOptions.ContentMode = .aspectFill, crop: Bool = false, upscale: Bool = false
        ) {
            width = Float(size.width)
            height = Float(size.height)
            self.unit = LengthUnit(unit)
            self.contentMode = contentMode
            self.crop = crop
            self.upscale = upscale
        }

        /// Creates a processor that brings images to a width.
        public init(width: Double, unit: ImageProcessingOptions.Unit = .points, upscale: Bool = false) {
            self.init(
                size: ImageSize(width: width, height: Self.unbounded), unit: unit, contentMode: .aspectFit,
                upscale: upscale)
        }

        /// Creates a processor that brings images to a height.
        public init(height: Double, unit: ImageProcessingOptions.Unit = .points, upscale: Bool = false) {
            self.init(
                size: ImageSize(width: Self.unbounded, height: height), unit: unit, contentMode: .aspectFit,
                upscale: upscale)
        }

        /// The resized image; the same object if nothing is to be done, nil if the size can't be made.
        public func process(_ image: PlatformImage) -> PlatformImage? {
            try? inPixels(image.scale).resize(image, originalSize: image.size)
        }

        /// The resized container; the image is the same object if nothing is to be done.
        public func process(_ container: ImageContainer, context: ImageProcessingContext) throws -> ImageContainer {
            var container = container
            container.image = try inPixels(context.request.scale).resize(
                container.image, originalSize: context.originalSize ?? container.image.size)
            return container
        }

        /// The same processor with its size in pixels.
        public func inPixels(scale: Double) -> any ImageProcessing { inPixels(scale) }

        private func inPixels(_ scale: Double) -> Resize {
            let factor = unit.pixels(scale: scale)
            // The side that is not given stays what it is.
            let (width, height) = (Double(width), Double(height))
            let size = ImageSize(
                width: width == Self.unbounded ? width : width * factor,
                height: height == Self.unbounded ? height : height * factor)
            return Resize(size: size, unit: .pixels, contentMode: contentMode, crop: crop, upscale: upscale)
        }

        /// The size before any cropping, if smaller than the original; nil where the image would be enlarged.
        public func decodeHint(for original: ImageSize) -> ImageSize? {
            guard let plan = try? Plan(self, original: original), plan.factor < 1 else { return nil }
            let (width, height) = original.scaled(by: plan.factor).roundedToPixels
            return ImageSize(width: width, height: height)
        }

        /// The exact size of the result; the size itself if the target is impossible.
        public func outputSize(for size: ImageSize) -> ImageSize {
            guard let plan = try? Plan(self, original: size) else { return size }
            return ImageSize(width: plan.width, height: plan.height)
        }

        /// Size, mode and flags; points and pixels that mean the same share it, see `inPixels`.
        public var identifier: String {
            """
            com.github.kean/nuke/resize?s=(\(Double(width)), \(Double(height))),cm=\(contentMode),crop=\(crop),\
            upscale=\(upscale)
            """
        }

        /// Size, mode and flags, for people.
        public var description: String {
            """
            Resize(size: (\(Double(width)), \(Double(height))) pixels, contentMode: \(contentMode), crop: \(crop), \
            upscale: \(upscale))
            """
        }

        private func resize(_ image: Bitmap, originalSize: ImageSize) throws(ImageProcessingError) -> Bitmap {
            let plan = try Plan(self, original: originalSize)
            let (width, height) = (plan.width, plan.height)
            let isWhole = plan.region.width == originalSize.width && plan.region.height == originalSize.height
            if isWhole, width == image.width, height == image.height { return image }
            // The plan is in the original's pixels; the image may be a reduction of it.
            let ratioX = Double(image.width) / originalSize.width
            let ratioY = Double(image.height) / originalSize.height
            let region = Resampler.Region(
                x: plan.region.x * ratioX, y: plan.region.y * ratioY, width: plan.region.width * ratioX,
                height: plan.region.height * ratioY)
            guard let output = Resampler.resample(image, region: region, width: width, height: height) else {
                throw .outOfMemory
            }
            return output
        }

        /// What to take of an original and the size to make of it.
        private struct Plan {
            /// Output pixels an original pixel, before rounding.
            let factor: Double
            let width: Int
            let height: Int
            let region: Resampler.Region

            init(_ resize: Resize, original: ImageSize) throws(ImageProcessingError) {
                let target = ImageSize(width: Double(resize.width), height: Double(resize.height))
                let isUsable = [target.width, target.height].allSatisfy { side in
                    side.isFinite && side > 0 && side <= Resize.maximumSide
                }
                guard isUsable else { throw .invalidSize(target.description) }
                let ratios = (target.width / original.width, target.height / original.height)
                let isFilling = resize.contentMode == .aspectFill
                let wanted = isFilling ? max(ratios.0, ratios.1) : min(ratios.0, ratios.1)
                factor = resize.upscale ? wanted : min(1, wanted)
                if resize.crop, isFilling {
                    // Not enlarged: the target's shape at the original's resolution.
                    let size = target.scaled(by: factor / wanted)
                    (width, height) = size.roundedToPixels
                    let taken = ImageSize(
                        width: min(original.width, Double(width) / factor),
                        height: min(original.height, Double(height) / factor))
                    region = Resampler.Region(
                        x: (original.width - taken.width) / 2, y: (original.height - taken.height) / 2,
                        width: taken.width, height: taken.height)
                } else {
                    let size = original.scaled(by: factor)
                    guard max(size.width, size.height) <= Resize.maximumSide else {
                        throw .invalidSize(size.description)
                    }
                    (width, height) = size.roundedToPixels
                    region = Resampler.Region(x: 0, y: 0, width: original.width, height: original.height)
                }
            }
        }
    }
}
