/// What a picture's header tells before any pixel is decoded.
public struct ImageProperties: Hashable, Sendable {
    /// The model of the stored samples.
    public enum ColorModel: String, Hashable, Sendable {
        /// One channel of luminance.
        case gray
        /// Red, green and blue; also luma and chroma, which are another way to write them.
        case rgb
        /// Colours out of a palette.
        case indexed
        /// Cyan, magenta, yellow and black; also their luma-chroma form.
        case cmyk
    }

    /// Pixels an inch: how large the picture is meant to be printed or shown.
    public struct Density: Hashable, Sendable {
        /// From left to right, as stored.
        public let x: Double
        /// From top to bottom, as stored.
        public let y: Double

        /// Creates a density; nil if a number is not positive and finite.
        public init?(x: Double, y: Double) {
            guard x > 0, y > 0, x.isFinite, y.isFinite else { return nil }
            self.x = x
            self.y = y
        }
    }

    /// What the header of a video tells beside the size.
    public struct Video: Hashable, Sendable {
        /// Seconds; nil if the file does not tell.
        public let duration: Double?
        /// How the pictures are coded, such as "h264".
        public let codec: String
        /// Frames a second; nil if the file does not tell, or they differ.
        public let frameRate: Double?
        /// Whether there is sound.
        public let hasAudio: Bool

        /// Creates the properties of a video.
        public init(duration: Double?, codec: String, frameRate: Double?, hasAudio: Bool) {
            self.duration = duration
            self.codec = codec
            self.frameRate = frameRate
            self.hasAudio = hasAudio
        }
    }

    /// The format.
    public var type: AssetType
    /// Columns of the upright picture, in pixels.
    public var width: Int
    /// Rows of the upright picture, in pixels.
    public var height: Int
    /// The orientation stored in the file; width and height have it applied already.
    public var orientation: ImageOrientation
    /// Frames of an animation; 1 for a still picture.
    public var frameCount: Int
    /// The loop count as stored: the formats differ in what they mean by it; nil if none is stored.
    public var loopCount: Int?
    /// Seconds that each frame is to be shown, as stored; empty for a still picture.
    public var frameDurations: [Double]
    /// Whether the file can hold pixels that are not opaque.
    public var hasAlpha: Bool
    /// Bits a stored sample has.
    public var bitDepth: Int
    /// The model of the stored samples.
    public var colorModel: ColorModel
    /// Whether an ICC profile is embedded.
    public var hasICCProfile: Bool
    /// Whether the picture is stored in passes of rising quality.
    public var isProgressive: Bool
    /// Bytes that decoding holds at once, reduced as the decoder's context allows: its pixels and what the codec has beside them.
    ///
    /// Nil, the default: those of the whole picture as RGBA8.
    public var workingSetBytes: Int?
    /// Whether the picture is made of shapes, and drawn at the size that is asked for; false by default.
    ///
    /// Its size then is no reason to refuse it: what is drawn is the decoder's to check.
    public var isVector = false
    /// Whether a thumbnail is embedded; false by default.
    public var hasEmbeddedThumbnail = false
    /// Pixels an inch; nil if the file tells none.
    public var density: Density?
    /// What there is to tell of a video; nil for pictures.
    public var video: Video?

    /// Creates the properties of a still picture; set what differs afterwards.
    ///
    /// Width and height are the stored ones; the orientation is applied to them here.
    public init(
        type: AssetType, storedWidth: Int, storedHeight: Int, orientation: ImageOrientation = .up, hasAlpha: Bool,
        bitDepth: Int, colorModel: ColorModel, hasICCProfile: Bool = false, isProgressive: Bool = false
    ) {
        self.type = type
        self.width = orientation.swapsSides ? storedHeight : storedWidth
        self.height = orientation.swapsSides ? storedWidth : storedHeight
        self.orientation = orientation
        self.frameCount = 1
        self.loopCount = nil
        self.frameDurations = []
        self.hasAlpha = hasAlpha
        self.bitDepth = bitDepth
        self.colorModel = colorModel
        self.hasICCProfile = hasICCProfile
        self.isProgressive = isProgressive
    }

    /// Width and height of the upright picture, in pixels.
    public var size: ImageSize { ImageSize(width: width, height: height) }
}
