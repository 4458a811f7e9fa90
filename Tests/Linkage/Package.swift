// swift-tools-version: 6.2
import PackageDescription

// Programs as users build them, whose loaded libraries are looked at: see `check`.
let package = Package(
    name: "linkage",
    dependencies: [.package(name: "nuke", path: "../..")],
    targets: [
        .target(name: "Maps"),
        .executableTarget(name: "CoreOnly", dependencies: ["Maps", .product(name: "NukeCore", package: "nuke")]),
        .executableTarget(
            name: "TwoFormats",
            dependencies: [
                "Maps", .product(name: "NukeCore", package: "nuke"), .product(name: "NukeDecodersGIF", package: "nuke"),
                .product(name: "NukeDecodersPNG", package: "nuke"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
