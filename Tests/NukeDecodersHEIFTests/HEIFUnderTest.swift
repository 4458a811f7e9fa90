import FoundationEssentials
import NukeCore
import NukeDecodersHEIF
import Testing

extension Trait where Self == ConditionTrait {
    /// Skips what needs libheif where it is not installed, or was not when the package was built.
    static var needsLibrary: Self {
        .enabled(if: ImageFormat.heic.libraryVersion() != nil, "there is no libheif")
    }
}
