public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Converts colours with Little CMS, which is opened the first time that a picture needs it.
///
/// Register it at startup: `ColorManagement.shared.register(.littleCMS)`. It serves profiles of tables for RGB and gray,
/// with the relative colorimetric intent, as the core does others, and those for CMYK, with the perceptual intent and
/// black mapped to black. Where the library is missing or a profile is damaged, pictures are as they are without it, and a missing library is told once, to
/// `Diagnostics`. Usable from any thread.
public struct LittleCMS: ColorConverting {
    private let library: LCMSLibrary
    private let transforms: TransformCache

    /// Creates one over the library of the system, `liblcms2.so.2`; nothing is opened by it.
    public init() { self = Self.standard }

    init(name: String) {
        library = LCMSLibrary(name: name)
        transforms = TransformCache()
    }

    fileprivate static let standard = LittleCMS(name: "liblcms2.so.2")

    /// The way from a profile's colours to sRGB; nil where the profile is damaged, not one for such samples, or empty.
    ///
    /// The last few are kept, as making one takes milliseconds, for CMYK tens of them.
    public func transform(from profile: Data, for samples: ColorSamples) -> (any ColorTransforming)? {
        transforms.transform(from: profile, for: samples) { library.makeTransform(from: profile, for: samples) }
    }

    /// The name and version of the headers that this was built with, such as "lcms2 2.14"; nil without; opens nothing.
    public static var libraryVersion: String? { LCMSLibrary.headerVersion.map { "lcms2 \($0)" } }

    /// What to tell people who lack the library, which this opens; nil if it is there.
    public func missingLibrary() -> String? { library.defect }
}

extension ColorConverting where Self == LittleCMS {
    /// Little CMS as the system has it.
    public static var littleCMS: LittleCMS { .standard }
}
