// swift-tools-version: 6.2
import PackageDescription

// The Swift blocks of README.md and Documentation/, as `check` cuts them out: they compile, and that is all they do here.
let package = Package(
    name: "snippets",
    dependencies: [.package(name: "nuke", path: "../..")],
    targets: [
        .target(
            name: "Snippets",
            dependencies: [.product(name: "NukeKit", package: "nuke"), .product(name: "NukeTestKit", package: "nuke")])
    ],
    swiftLanguageModes: [.v6]
)
