extension ImageProcessors {
    /// A filter by its Core Image name, made of this package's own processors.
    ///
    /// So that requests written for Apple platforms work here. Known are CIColorControls, CIColorInvert, CIColorMonochrome,
    /// CIColorPosterize, CIColorThreshold, CIExposureAdjust, CIGammaAdjust, CIGaussianBlur, CIHueAdjust,
    /// CIPhotoEffectMono, CIPhotoEffectNoir, CIPhotoEffectTonal, CISepiaTone and CIVignette; with any other name,
    /// processing fails. Results resemble those of Core Image; they are not equal to the bit.
    public struct CoreImageFilter: ImageProcessing, CustomStringConvertible {
        /// Why there is no such filter.
        public enum Error: Swift.Error, Hashable, Sendable, CustomStringConvertible {
            /// No filter of this name is known here.
            case unknownFilter(name: String)
            /// The filter has no such parameter, or not of this type.
            case invalidParameter(filter: String, parameter: String)

            /// The failure in words.
            public var description: String {
                switch self {
                case .unknownFilter(let name): "no filter named \(name) is known"
                case .invalidParameter(let filter, let parameter):
                    "\(filter) has no parameter \(parameter) of this type"
                }
            }
        }

        private let name: String
        private let filter: Result<any ImageProcessing, Error>
        /// What tells it from others: the name, or what it was made with.
        public let identifier: String

        /// Creates a filter with its default parameters.
        public init(name: String) {
            self.init(name: name, parameters: [:], identifier: "com.github.kean/nuke/core_image?name=\(name)")
        }

        /// Creates a filter with parameters.
        ///
        /// - Parameters:
        ///   - name: The name, such as `CISepiaTone`.
        ///   - parameters: Numbers and colours by name, such as `inputIntensity`.
        ///   - identifier: What tells it from others; has to differ where the parameters do.
        public init(name: String, parameters: [String: any Sendable], identifier: String) {
            self.name = name
            self.identifier = identifier
            filter = Result { () throws(Error) in try CoreImageFilterParameters(name, parameters).makeProcessor() }
        }

        /// The filtered image; nil if there is no such filter.
        public func process(_ image: PlatformImage) -> PlatformImage? { try? filter.get().process(image) }

        /// The container with the filtered image; throws `Error` if there is no such filter.
        public func process(_ container: ImageContainer, context: ImageProcessingContext) throws -> ImageContainer {
            try filter.get().process(container, context: context)
        }

        /// The name and what it was made with, for people.
        public var description: String { "CoreImageFilter(name: \(name), identifier: \(identifier))" }
    }
}

/// Reads the parameters of a filter and makes the processor that stands for it.
private struct CoreImageFilterParameters {
    private let name: String
    private let values: [String: any Sendable]

    init(_ name: String, _ values: [String: any Sendable]) {
        self.name = name
        self.values = values
    }

    func makeProcessor() throws(ImageProcessors.CoreImageFilter.Error) -> any ImageProcessing {
        switch name {
        case "CIColorControls":
            try check("inputSaturation", "inputBrightness", "inputContrast")
            let values = (
                try number("inputSaturation", 1), try number("inputBrightness", 0), try number("inputContrast", 1)
            )
            let matrix = ColorMatrix.saturation(values.0).followed(by: .contrast(values.2))
            return ImageProcessors.ColorFilter("controls=\(values)", matrix.followed(by: .brightness(values.1)))
        case "CIColorMonochrome":
            try check("inputColor", "inputIntensity")
            let color = try color("inputColor", PlatformColor(red: 0.6, green: 0.45, blue: 0.3))
            return .colorFilter(.monochrome(color, intensity: try number("inputIntensity", 1)))
        case "CIVignette":
            try check("inputIntensity", "inputRadius")
            let (intensity, radius) = (try number("inputIntensity", 0), try number("inputRadius", 1))
            return .colorFilter(.vignette(intensity: intensity, radius: radius))
        case "CIGaussianBlur": return .gaussianBlur(radius: try wholeNumber("inputRadius", 10))
        case "CIColorPosterize": return .colorFilter(.posterize(levels: try wholeNumber("inputLevels", 6)))
        case "CISepiaTone": return .colorFilter(.sepia(intensity: try only("inputIntensity", 1)))
        case "CIExposureAdjust": return .colorFilter(.exposure(try only("inputEV", 0)))
        case "CIGammaAdjust": return .colorFilter(.gamma(try only("inputPower", 1)))
        case "CIHueAdjust": return .colorFilter(.hue(try only("inputAngle", 0)))
        case "CIColorThreshold": return .colorFilter(.threshold(try only("inputThreshold", 0.5)))
        default:
            guard let filter = plainFilter else { throw .unknownFilter(name: name) }
            try check()
            return filter
        }
    }

    private var plainFilter: ImageProcessors.ColorFilter? {
        switch name {
        case "CIColorInvert": .invert
        case "CIPhotoEffectMono": .mono
        case "CIPhotoEffectNoir": .noir
        case "CIPhotoEffectTonal": .tonal
        default: nil
        }
    }

    /// Throws if there are other parameters than these.
    private func check(_ names: String...) throws(ImageProcessors.CoreImageFilter.Error) {
        for parameter in values.keys.sorted() where !names.contains(parameter) {
            throw .invalidParameter(filter: name, parameter: parameter)
        }
    }

    /// The only parameter.
    private func only(
        _ parameter: String, _ standard: Double
    ) throws(ImageProcessors.CoreImageFilter.Error) -> Double {
        try check(parameter)
        return try number(parameter, standard)
    }

    /// The only parameter, rounded; beyond a million it counts as that.
    private func wholeNumber(
        _ parameter: String, _ standard: Double
    ) throws(ImageProcessors.CoreImageFilter.Error) -> Int {
        let value = try only(parameter, standard)
        guard value.isFinite else { throw .invalidParameter(filter: name, parameter: parameter) }
        return Int(min(max(value, -1_000_000), 1_000_000).rounded())
    }

    private func number(
        _ parameter: String, _ standard: Double
    ) throws(ImageProcessors.CoreImageFilter.Error) -> Double {
        switch values[parameter] {
        case nil: return standard
        case let value as Double: return value
        case let value as Float: return Double(value)
        case let value as Int: return Double(value)
        default: throw .invalidParameter(filter: name, parameter: parameter)
        }
    }

    private func color(
        _ parameter: String, _ standard: PlatformColor
    ) throws(ImageProcessors.CoreImageFilter.Error) -> PlatformColor {
        guard let value = values[parameter] else { return standard }
        guard let color = value as? PlatformColor else {
            throw .invalidParameter(filter: name, parameter: parameter)
        }
        return color
    }
}
