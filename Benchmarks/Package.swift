// swift-tools-version: 6.2
import PackageDescription

// Programs that measure the package beside the plain C libraries: see README.md.
let package = Package(
    name: "benchmarks",
    dependencies: [.package(name: "nuke", path: "..")],
    targets: [
        .systemLibrary(name: "CLimitsJPEG", path: "Sources/CLimitsJPEG", pkgConfig: "libjpeg"),
        .systemLibrary(name: "CLimitsCurl", path: "Sources/CLimitsCurl", pkgConfig: "libcurl"),
        .systemLibrary(name: "CLimitsSVG", path: "Sources/CLimitsSVG", pkgConfig: "librsvg-2.0"),
        .systemLibrary(name: "CLimitsVideo", path: "Sources/CLimitsVideo", pkgConfig: "libavformat"),
        // The limits in C run as processes of their own, so that the libraries they link cost our program nothing.
        .executableTarget(name: "limit-jpeg", dependencies: ["CLimitsJPEG"], path: "Sources/limit-jpeg"),
        .executableTarget(name: "limit-thumbnail", dependencies: ["CLimitsJPEG"], path: "Sources/limit-thumbnail"),
        .executableTarget(name: "limit-http", dependencies: ["CLimitsCurl"], path: "Sources/limit-http"),
        .executableTarget(name: "limit-svg", dependencies: ["CLimitsSVG"], path: "Sources/limit-svg"),
        .executableTarget(
            name: "limit-poster", dependencies: ["CLimitsVideo"], path: "Sources/limit-poster",
            linkerSettings: [.linkedLibrary("avcodec"), .linkedLibrary("avutil"), .linkedLibrary("swscale")]),
        .executableTarget(name: "limit-start", path: "Sources/limit-start"),
        .executableTarget(
            name: "nuke-benchmarks", dependencies: [.product(name: "NukeKit", package: "nuke")],
            path: "Sources/NukeBenchmarks"),
    ],
    swiftLanguageModes: [.v6]
)
