import NukeKit

/// The text of `--version`: the program's version, and those of the libraries in use.
enum VersionText {
    /// The version of this package.
    static let version = "0.1.0"

    static func make() -> String {
        NukeKit.install()
        let libraries = ImageDecoderRegistry.shared.formats.compactMap { $0.libraryVersion() }
        return "nuke \(version)\n" + (libraries + NukeKit.loaderVersions).map { "\($0)\n" }.joined()
    }
}
