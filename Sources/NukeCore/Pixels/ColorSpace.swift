#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The colour space that pixels are in: sRGB, or one described by an ICC profile.
public struct ColorSpace: Hashable, Sendable {
    /// IEC 61966-2-1 sRGB, or its gray axis for gray pixels.
    public static let sRGB = ColorSpace(profile: nil)

    /// The ICC profile; nil for sRGB.
    public let iccProfile: Data?

    private init(profile: Data?) { iccProfile = profile }

    /// Creates the colour space of an ICC profile whose data colour space suits pixels of `format`, else nil.
    ///
    /// Only the header is read (ICC.1:2022, 7.2): 128 bytes, the signature `acsp` at 36, the data colour space at 16,
    /// which must be `RGB ` for RGBA pixels and `GRAY` for gray ones. A profile that does not match says nothing about
    /// the pixels and must not be written back.
    public init?(iccProfile: Data, for format: PixelFormat) {
        let header = iccProfile.prefix(128)
        guard header.count == 128 else { return nil }
        let start = header.startIndex
        guard header[start + 36..<start + 40].elementsEqual("acsp".utf8) else { return nil }
        let space = format == .gray8 ? "GRAY" : "RGB "
        guard header[start + 16..<start + 20].elementsEqual(space.utf8) else { return nil }
        self.init(profile: iccProfile)
    }
}
