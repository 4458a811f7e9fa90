// swift-tools-version: 6.2
import PackageDescription

// Fuzzers: built by Scripts/fuzz only, as they link with libFuzzer and the address sanitizer alone.
let package = Package(
    name: "fuzzing",
    dependencies: [.package(name: "nuke", path: "../..")],
    targets: [
        // libFuzzer's entry points, which Swift has no other way to name.
        .target(name: "CFuzzing"),
        .executableTarget(
            name: "NukeFuzz",
            dependencies: [
                "CFuzzing", .product(name: "NukeCore", package: "nuke"),
                .product(name: "NukeCurlLoader", package: "nuke"),
                .product(name: "NukeDecodersBasic", package: "nuke"),
                .product(name: "NukeDecodersGIF", package: "nuke"),
                .product(name: "NukeDecodersHEIF", package: "nuke"),
                .product(name: "NukeDecodersJPEG", package: "nuke"),
                .product(name: "NukeDecodersPNG", package: "nuke"), .product(name: "NukeDecodersWebP", package: "nuke"),
                .product(name: "NukeDiskCache", package: "nuke"), .product(name: "NukeSVG", package: "nuke"),
                .product(name: "NukeVideo", package: "nuke"),
            ],
            swiftSettings: [.enableExperimentalFeature("Lifetimes")]),
    ],
    swiftLanguageModes: [.v6]
)
