import NukeColorManagement
import NukeKit

/// What the program registers before it does anything: nothing is opened by it.
enum ProgramSetup {
    static func install() {
        NukeKit.install()
        ColorManagement.shared.register(.littleCMS)
    }
}
