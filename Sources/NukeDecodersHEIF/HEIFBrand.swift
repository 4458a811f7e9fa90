internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Tells by the file type box whether a file holds pictures, and of which coding (ISO/IEC 14496-12, 4.3).
enum HEIFBrand {
    /// What the brands say.
    enum Answer: Equatable {
        case type(AssetType)
        case other
        case needsMoreData
    }

    /// Brands of HEVC: ISO/IEC 23008-12, annex B.
    private static let hevc: Set<String> = ["heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs"]
    /// Brands of AV1: AV1 Image File Format, 9.1, with its profiles.
    private static let av1: Set<String> = ["avif", "avis", "MA1A", "MA1B"]
    /// Brands that tell of pictures, but not how they are coded; what is coded in yet another way is the library's to tell.
    private static let pictures: Set<String> = ["mif1", "mif2", "mif3", "msf1", "miaf", "1pic"]
    /// Major brands of files that hold videos, whatever else they say that they are compatible with.
    private static let videos: Set<String> = [
        "isom", "iso2", "iso3", "iso4", "iso5", "iso6", "mp41", "mp42", "mmp4", "avc1", "dash", "M4V ", "M4VH", "M4VP",
        "M4A ", "qt  ", "3gp4", "3gp5", "3gp6",
    ]
    /// Compatible brands that are looked at: more than any file has.
    private static let limit = 64

    /// What the first bytes say; the major brand decides where it can, else the first compatible one that does.
    static func answer(for bytes: Data, isComplete: Bool) -> Answer {
        guard bytes.count >= 12 else {
            let mark = Array("ftyp".utf8).prefix(max(0, bytes.count - 4))
            return !isComplete && bytes.dropFirst(4).elementsEqual(mark) ? .needsMoreData : .other
        }
        guard text(in: bytes, at: 4) == "ftyp" else { return .other }
        let major = text(in: bytes, at: 8)
        if let type = type(of: major) { return .type(type) }
        if videos.contains(major) { return .other }
        // A size of 0 means up to the end of the file, of 1 that a longer number follows: neither is found in practice.
        let size = (0..<4).reduce(0) { $0 << 8 | Int(bytes[bytes.startIndex + $1]) }
        let end = min(size, 16 + limit * 4)
        guard end >= 16 else { return pictures.contains(major) ? .type(.heic) : .other }
        var holdsPictures = pictures.contains(major)
        for place in stride(from: 16, through: end - 4, by: 4) {
            guard place + 4 <= bytes.count else { return isComplete ? .other : .needsMoreData }
            let brand = text(in: bytes, at: place)
            if let type = type(of: brand) { return .type(type) }
            holdsPictures = holdsPictures || pictures.contains(brand)
        }
        return holdsPictures ? .type(.heic) : .other
    }

    private static func type(of brand: String) -> AssetType? {
        hevc.contains(brand) ? .heic : av1.contains(brand) ? .avif : nil
    }

    private static func text(in bytes: Data, at offset: Int) -> String {
        String(decoding: bytes.dropFirst(offset).prefix(4), as: UTF8.self)
    }
}
