import NukeColorManagement
import NukeKit

/// The text of `--version`: the program's version, and those of the libraries in use.
enum VersionText {
    /// The version of this package.
    static let version = "0.1.0"

    static func make() -> String {
        ProgramSetup.install()
        // Some libraries serve several formats.
        let libraries = ImageDecoderRegistry.shared.formats.compactMap { $0.libraryVersion() }
            .reduce(into: [String]()) { known, name in if !known.contains(name) { known.append(name) } }
        return "nuke \(version)\n"
            + (libraries + [LittleCMS.libraryVersion].compactMap { $0 } + NukeKit.loaderVersions).map { "\($0)\n" }
            .joined()
    }
}
