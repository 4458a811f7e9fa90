/// The type of an image or video file, by its uniform type identifier.
public struct AssetType: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    /// The identifier, such as "public.jpeg"; any string will do for formats of one's own.
    public let rawValue: String

    /// Creates the type with this identifier.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Creates the type with this identifier.
    public init(stringLiteral value: String) { self.init(rawValue: value) }

    /// Portable Network Graphics, animated ones too.
    public static let png: AssetType = "public.png"
    /// JPEG.
    public static let jpeg: AssetType = "public.jpeg"
    /// GIF 87a and 89a.
    public static let gif: AssetType = "com.compuserve.gif"
    /// HEIF pictures coded with HEVC, single or in sequence.
    public static let heic: AssetType = "public.heic"
    /// WebP.
    public static let webp: AssetType = "org.webmproject.webp"
    /// MPEG-4 video.
    public static let mp4: AssetType = "public.mpeg-4"
    /// Apple's variant of MPEG-4 video.
    public static let m4v: AssetType = "com.apple.m4v-video"
    /// QuickTime video.
    public static let mov: AssetType = "com.apple.quicktime-movie"
    /// WebM video.
    public static let webm: AssetType = "org.webmproject.webm"
    /// Matroska video.
    public static let mkv: AssetType = "org.matroska.mkv"
    /// Windows icons.
    public static let ico: AssetType = "com.microsoft.ico"
    /// Windows bitmaps.
    public static let bmp: AssetType = "com.microsoft.bmp"
    /// TIFF, and most camera raw files, which are TIFFs inside.
    public static let tiff: AssetType = "public.tiff"
    /// JPEG 2000.
    public static let jpeg2000: AssetType = "public.jpeg-2000"
    /// JPEG XL.
    public static let jxl: AssetType = "public.jpeg-xl"
    /// HEIF pictures coded with AV1, single or in sequence.
    public static let avif: AssetType = "public.avif"
    /// Scalable Vector Graphics, compressed ones too.
    public static let svg: AssetType = "public.svg-image"

    /// Whether this is one of the video types that players on every platform take: mp4, m4v and mov.
    public var isVideo: Bool { self == .mp4 || self == .m4v || self == .mov }

    /// The product of this package that decodes the type; nil if none does.
    public var decoderProduct: String? {
        switch self {
        case .jpeg: "NukeDecodersJPEG"
        case .png: "NukeDecodersPNG"
        case .webp: "NukeDecodersWebP"
        case .gif: "NukeDecodersGIF"
        case .heic, .avif: "NukeDecodersHEIF"
        case .svg: "NukeSVG"
        case .mp4, .m4v, .mov, .webm, .mkv: "NukeVideo"
        case .bmp, .ico: "NukeDecodersBasic"
        default: nil
        }
    }

    /// The product of this package that encodes the type; nil if none does.
    public var encoderProduct: String? {
        switch self {
        case .jpeg, .png, .gif, .webp, .heic, .avif: decoderProduct
        default: nil
        }
    }
}
