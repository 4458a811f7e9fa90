/// Registers everything that this product exports.
public enum NukeKit {
    /// Which formats to add.
    public enum Selection: Sendable {
        /// Every format.
        case all
        /// Pictures of pixels: neither SVG nor video, nor what needs its libraries, sequences of AVIF and HEIC.
        case web
    }

    /// Adds every format and loader that nobody registered yet; what is registered already stays, and is asked first.
    ///
    /// To be called at startup. Nothing is opened or started by it: libraries are opened when a load needs them.
    ///
    /// - Parameter selection: Which formats to add; all by default.
    public static func install(_ selection: Selection = .all) {
        let registry = ImageDecoderRegistry.shared
        registry.registerMissing([.jpeg, .png, .gif, .webp])
        // Before those that have the still picture of such files.
        if selection == .all { registry.registerMissing([.avifSequence, .heicSequence]) }
        registry.registerMissing([.heic, .avif])
        // SVG comes last, as what gzip has made smaller could be one.
        if selection == .all { registry.registerMissing([.mp4, .m4v, .mov, .webm, .mkv, .svg]) }
        DataLoaderRegistry.shared.registerMissing({ CurlLoader() }, for: ["http", "https"])
    }

    /// Names and versions of the libraries behind the loaders, as built against: they are opened at first use.
    public static var loaderVersions: [String] { [CurlLoader.headerVersion].compactMap { $0 } }
}
