// swift-tools-version: 6.2
import PackageDescription

// A format that somebody else publishes: on NukeCore's public API, with NukeTestKit in its tests.
let package = Package(
    name: "nuke-pix",
    products: [.library(name: "NukePix", targets: ["NukePix"])],
    // Elsewhere this is `.package(url: …, from: "1.0.0")`.
    dependencies: [.package(name: "nuke", path: "../..")],
    targets: [
        .target(name: "NukePix", dependencies: [.product(name: "NukeCore", package: "nuke")]),
        .testTarget(
            name: "NukePixTests",
            dependencies: [
                "NukePix", .product(name: "NukeDecodersPNG", package: "nuke"),
                .product(name: "NukeTestKit", package: "nuke"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
