#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A decoded image with what belongs to it.
///
/// A value: changing a copy leaves the original as it is. Copies share their storage until one of them is changed.
public struct ImageContainer: Sendable {
    // SAFETY: written by `ImageContainer` only, while it holds the one reference.
    private final class Storage: @unchecked Sendable {
        var image: PlatformImage
        var type: AssetType?
        var isPreview: Bool
        var data: Data?
        var userInfo: [UserInfoKey: any Sendable]
        var originalSize: ImageSize?
        var animation: ImageAnimation?
        var metadata: ImageMetadata?
        var video: ImageVideo?
        var vector: ImageVector?

        init(
            image: PlatformImage, type: AssetType?, isPreview: Bool, data: Data?,
            userInfo: [UserInfoKey: any Sendable], originalSize: ImageSize? = nil, animation: ImageAnimation? = nil,
            metadata: ImageMetadata? = nil, video: ImageVideo? = nil, vector: ImageVector? = nil
        ) {
            self.image = image
            self.type = type
            self.isPreview = isPreview
            self.data = data
            self.userInfo = userInfo
            self.originalSize = originalSize
            self.animation = animation
            self.metadata = metadata
            self.video = video
            self.vector = vector
        }
    }

    private var storage: Storage

    /// Creates a container.
    public init(
        image: PlatformImage, type: AssetType? = nil, isPreview: Bool = false, data: Data? = nil,
        userInfo: [UserInfoKey: any Sendable] = [:]
    ) {
        storage = Storage(image: image, type: type, isPreview: isPreview, data: data, userInfo: userInfo)
    }

    /// The picture; for animations the poster.
    public var image: PlatformImage {
        get { storage.image }
        set { update { $0.image = newValue } }
    }

    /// The format of the data that it was decoded from, if known.
    public var type: AssetType? {
        get { storage.type }
        set { update { $0.type = newValue } }
    }

    /// Whether it was decoded from partial data and a better one will come; false by default.
    public var isPreview: Bool {
        get { storage.isPreview }
        set { update { $0.isPreview = newValue } }
    }

    /// The original data, where the decoder keeps it; nil by default.
    public var data: Data? {
        get { storage.data }
        set { update { $0.data = newValue } }
    }

    /// Values that decoders and processors attach.
    public var userInfo: [UserInfoKey: any Sendable] {
        get { storage.userInfo }
        set { update { $0.userInfo = newValue } }
    }

    /// The upright size of the whole picture, in pixels, if `image` was reduced while decoding or may have been.
    ///
    /// Processing clears it: from then on the image is what it is.
    public var originalSize: ImageSize? {
        get { storage.originalSize }
        set { update { $0.originalSize = newValue } }
    }

    /// The frames, if the data holds an animation and the decoder has them; nil by default.
    ///
    /// `image` is the poster: the first frame, or the picture that the file has in its place.
    public var animation: ImageAnimation? {
        get { storage.animation }
        set { update { $0.animation = newValue } }
    }

    /// What the file of a video tells, and its frames; nil by default.
    ///
    /// `image` is the poster.
    public var video: ImageVideo? {
        get { storage.video }
        set { update { $0.video = newValue } }
    }

    /// The picture itself, if it is made of shapes, to be drawn again at another size; nil by default.
    ///
    /// `image` is how it is drawn at the size that was asked for.
    public var vector: ImageVector? {
        get { storage.vector }
        set { update { $0.vector = newValue } }
    }

    /// What the file tells beside the pixels, if the request has the option `preserveMetadata`; nil by default.
    ///
    /// Encoders write it into the file that they make.
    public var metadata: ImageMetadata? {
        get { storage.metadata }
        set { update { $0.metadata = newValue } }
    }

    private mutating func update(_ change: (Storage) -> Void) {
        if !isKnownUniquelyReferenced(&storage) {
            storage = Storage(
                image: storage.image, type: storage.type, isPreview: storage.isPreview, data: storage.data,
                userInfo: storage.userInfo, originalSize: storage.originalSize, animation: storage.animation,
                metadata: storage.metadata, video: storage.video, vector: storage.vector)
        }
        change(storage)
    }

    /// A key of `userInfo`; equal if the raw values are.
    public struct UserInfoKey: Hashable, Sendable, ExpressibleByStringLiteral {
        /// The name.
        public let rawValue: String

        /// Creates a key.
        public init(_ rawValue: String) { self.rawValue = rawValue }

        /// Creates a key.
        public init(stringLiteral value: String) { self.init(value) }

        /// How many scans of a progressive image a preview shows: an `Int` that counts from 1.
        public static let scanNumberKey: UserInfoKey = "com.github/kean/nuke/scan-number"
        /// Whether data of the picture was lacking, which a lenient `TruncationPolicy` let pass: `true` if it is there.
        public static let isTruncatedKey: UserInfoKey = "com.github/kean/nuke/is-truncated"
        /// The `ImageOrientation` that a thumbnail without transform is still to be turned by; absent if that is `up`.
        public static let orientationKey: UserInfoKey = "com.github/kean/nuke/orientation"
        /// The `ImageVideo` that is also the container's `video`.
        public static let videoAssetKey: UserInfoKey = "com.github/kean/nuke/video-asset"
        /// How colours that are not stored as RGB became it: a `ColorConversion`, absent for gray and luma with chroma.
        public static let colorConversionKey: UserInfoKey = "com.github/kean/nuke/color-conversion"
    }

    /// How colours that are not stored as RGB became it.
    public enum ColorConversion: String, Sendable, Hashable {
        /// From CMYK by the plain formula, (1 − C)(1 − K) and so on, whatever the embedded profile says.
        case plainCMYK
        /// From CMYK by the embedded profile, with the converter that a program registered.
        case managedCMYK
    }
}
