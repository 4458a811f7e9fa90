import Glibc
import NukeKit

/// Makes images, or loads them over HTTP into thumbnails and a contact sheet: see `Scripts/demo`.
@main
enum Demo {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            switch (arguments.first, arguments.count) {
            case ("generate", 2): try await DemoImages.write(to: arguments[1])
            case ("load", 3): try await DemoLoad(origin: arguments[1], output: arguments[2]).run()
            default: print("usage: nuke-demo generate FOLDER | nuke-demo load URL FOLDER")
            }
        } catch {
            print("The demonstration failed: \(error)")
            exit(1)
        }
    }
}
