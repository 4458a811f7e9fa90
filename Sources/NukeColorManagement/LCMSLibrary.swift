internal import CNukeColor
internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Little CMS itself, opened the first time that something is to be converted.
final class LCMSLibrary: Sendable {
    private let name: String
    private let opened = Lock<OpenLibrary?>(nil)

    /// Names a library, or gives its path.
    init(name: String) { self.name = name }

    /// What is wrong with the library, and the remedy; nil if nothing is.
    var defect: String? { open().defect }

    /// The version of the headers that this was built with, such as "2.14"; opens nothing, and is nil where there were none.
    static var headerVersion: String? {
        let number = CNukeColor_headerVersion()
        return number > 0 ? "\(number / 1000).\(number % 1000 / 10)" : nil
    }

    /// The way from a profile to sRGB, not from the cache; nil where there is none.
    func makeTransform(from profile: Data, for samples: ColorSamples) -> LCMSTransform? {
        LCMSTransform(open(), profile, samples)
    }

    private func open() -> OpenLibrary {
        opened.withLock { opened in
            if let opened { return opened }
            let library = OpenLibrary(name: name)
            opened = library
            if let defect = library.defect {
                let fields: [(name: String, value: Diagnostics.Event.Value)] = [("reason", .text(defect))]
                Diagnostics.send(Diagnostics.Event(.warning, "colors are not managed", fields: fields))
            }
            return library
        }
    }
}

/// The functions found in the library.
// SAFETY: the table behind the pointer is filled before anybody sees it, never changed, and freed with this object.
@safe
final class OpenLibrary: @unchecked Sendable {
    fileprivate let raw: OpaquePointer?
    private let opening: CNukeColor_Opening

    init(name: String) {
        // SAFETY: see above.
        var opening = CNukeColor_Opening.notInstalled
        unsafe raw = CNukeColor_openLibrary(name, &opening)
        self.opening = opening
    }

    deinit {
        // SAFETY: nobody has the pointer who does not hold this object.
        if let raw = unsafe raw { unsafe CNukeColor_forgetLibrary(raw) }
    }

    var defect: String? {
        switch opening {
        case .ready: nil
        case .notInstalled: "Little CMS is not installed; install the package liblcms2-2"
        case .tooOld: "Little CMS is older than 2.8; update the package liblcms2-2"
        case .withoutHeaders: "this program was built without Little CMS; install liblcms2-dev and build it again"
        }
    }
}

/// A transform of the library, and what it belongs to.
// SAFETY: the transform is never written to after it is made (see the shim), and is freed with this object.
@safe
final class LCMSTransform: ColorTransforming, @unchecked Sendable {
    private let library: OpenLibrary
    private let raw: OpaquePointer
    private let bytesPerPixel: Int

    init?(_ library: OpenLibrary, _ profile: Data, _ samples: ColorSamples) {
        // SAFETY: the shim reads `count` bytes from the profile's first on, and keeps no pointer to them.
        guard let table = unsafe library.raw else { return nil }
        let kind: CNukeColor_Samples =
            switch samples {
            case .rgba8: .RGBA8
            case .rgba16: .RGBA16
            case .gray8: .gray8
            case .cmyk8: .CMYK8
            }
        let transform = unsafe profile.bytes.withUnsafeBytes { bytes in
            unsafe bytes.baseAddress.flatMap { start in
                unsafe CNukeColor_createTransform(
                    table, start.assumingMemoryBound(to: UInt8.self), bytes.count, kind)
            }
        }
        guard let transform = unsafe transform else { return nil }
        unsafe raw = transform
        self.library = library
        bytesPerPixel = samples.bytesPerPixel
    }

    deinit {
        // SAFETY: made in init, freed nowhere else; the library is still held.
        unsafe CNukeColor_destroyTransform(raw)
    }

    func convert(_ pixels: inout MutableRawSpan) {
        // SAFETY: as many whole pixels as fit into the span.
        unsafe pixels.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe CNukeColor_convert(raw, start.assumingMemoryBound(to: UInt8.self), bytes.count / bytesPerPixel)
        }
    }
}
