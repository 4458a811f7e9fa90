/// Registers everything that this product exports.
public enum NukeKit {
    /// Adds every format and loader that nobody registered yet; what is registered already stays, and is asked first.
    ///
    /// To be called at startup. Nothing is opened or started by it: libraries are opened when a load needs them.
    public static func install() {
        ImageDecoderRegistry.shared.registerMissing([.jpeg, .png, .gif, .webp, .heic, .avif])
        DataLoaderRegistry.shared.registerMissing({ CurlLoader() }, for: ["http", "https"])
    }

    /// Names and versions of the libraries behind the loaders, as built against: they are opened at first use.
    public static var loaderVersions: [String] { [CurlLoader.headerVersion].compactMap { $0 } }
}
