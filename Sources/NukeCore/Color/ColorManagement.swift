#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Makes the way to sRGB for profiles that the core does not read: those of tables, and those of CMYK.
public protocol ColorConverting: Sendable {
    /// The way from a profile's colours to sRGB; nil if this can't be done with it, for whatever reason.
    ///
    /// Called on codec threads, with bytes from outside, once a picture. What is made may be kept and given out again.
    ///
    /// - Parameters:
    ///   - profile: An ICC profile; nothing of it has been checked but what `samples` says.
    ///   - samples: What it is to be applied to.
    func transform(from profile: Data, for samples: ColorSamples) -> (any ColorTransforming)?
}

/// The way from the colours of one profile to sRGB; usable by several threads at once.
public protocol ColorTransforming: Sendable {
    /// Converts whole pixels in place.
    func convert(_ pixels: inout MutableRawSpan)
}

/// How the samples of pixels lie that a `ColorTransforming` converts in place.
public enum ColorSamples: Sendable, Hashable {
    /// Red, green, blue, each 8 bits and not multiplied by alpha, and alpha, which stays.
    case rgba8
    /// Red, green, blue, each 16 bits in the machine's order and not multiplied by alpha, and alpha, which stays.
    case rgba16
    /// Gray of 8 bits.
    case gray8
    /// What 8 bits each leave of the paper's light: 1 − C, 1 − M, 1 − Y, 1 − K. Becomes `rgba8` with full alpha.
    case cmyk8

    /// Bytes from one pixel to the next.
    public var bytesPerPixel: Int {
        switch self {
        case .rgba8, .cmyk8: 4
        case .rgba16: 8
        case .gray8: 1
        }
    }
}

/// Where a program says, at startup, what converts colours that the core can't convert itself.
///
/// Nothing is registered to begin with: pictures with a profile of tables then keep their colours and the profile, and
/// CMYK becomes RGB by the plain formula. Usable from any thread. What is registered is no part of any key, as the choice
/// of decoders is not: caches keep what was made before, so register before the first load, and remove stored results
/// (not original data) where a program begins to use a converter.
public final class ColorManagement: Sendable {
    /// What decoding contexts take their converter from.
    public static let shared = ColorManagement()

    private let state = Lock<(any ColorConverting)?>(nil)

    /// Creates one in which nothing is registered.
    public init() {}

    /// What was registered last; nil if nothing was.
    public var converter: (any ColorConverting)? { state.withLock { $0 } }

    /// Registers what converts from now on, in place of what did before.
    public func register(_ converter: any ColorConverting) { state.withLock { $0 = converter } }

    /// Removes what was registered.
    public func clear() { state.withLock { $0 = nil } }
}
