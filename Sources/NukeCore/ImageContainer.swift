#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A decoded image with what belongs to it.
///
/// A value: changing a copy leaves the original as it is.
public struct ImageContainer: Sendable {
    /// The picture; for animations the poster.
    public var image: PlatformImage
    /// The format of the data that it was decoded from, if known.
    public var type: AssetType?
    /// Whether it was decoded from partial data and a better one will come; false by default.
    public var isPreview: Bool
    /// The original data, where the decoder keeps it; nil by default.
    public var data: Data?
    /// Values that decoders and processors attach.
    public var userInfo: [UserInfoKey: any Sendable]

    /// The upright size of the whole picture, in pixels, if `image` was reduced while decoding or may have been.
    ///
    /// Processing clears it: from then on the image is what it is.
    public var originalSize: ImageSize?

    /// Creates a container.
    public init(
        image: PlatformImage, type: AssetType? = nil, isPreview: Bool = false, data: Data? = nil,
        userInfo: [UserInfoKey: any Sendable] = [:]
    ) {
        self.image = image
        self.type = type
        self.isPreview = isPreview
        self.data = data
        self.userInfo = userInfo
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
    }
}
