// swift-tools-version: 6.2
import Foundation
import PackageDescription

// One product per plugin: a program takes the core and the codecs, the loader and the cache that it wants.
let products = [
    "NukeColorManagement", "NukeCore", "NukeCurlLoader", "NukeDecodersBasic", "NukeDecodersGIF", "NukeDecodersHEIF",
    "NukeDecodersJPEG", "NukeDecodersPNG", "NukeDecodersWebP", "NukeDiskCache", "NukeKit", "NukeSVG", "NukeTestKit",
    "NukeVideo",
]

// With Swift's own libraries inside, `nuke` starts in half the time. Not every toolchain has them for static linking.
let compilers = (Context.environment["PATH"] ?? "").split(separator: ":").map {
    URL(fileURLWithPath: "\($0)/swift").resolvingSymlinksInPath()
}
let isStaticLinkingPossible = compilers.first { FileManager.default.isExecutableFile(atPath: $0.path) }.map {
    let libraries = $0.deletingLastPathComponent().appendingPathComponent("../lib/swift_static/linux")
    return FileManager.default.fileExists(atPath: libraries.appendingPathComponent("libFoundationEssentials.a").path)
}
let staticLinking: [LinkerSetting] = [
    .unsafeFlags(["-static-stdlib", "-use-ld=lld"], .when(configuration: .release)),
    .linkedLibrary("_FoundationCShims", .when(configuration: .release)),
    .linkedLibrary("_FoundationCollections", .when(configuration: .release)),
]

let package = Package(
    name: "nuke",
    products: products.map { .library(name: $0, targets: [$0]) } + [.executable(name: "nuke", targets: ["nuke"])],
    targets: [
        // The core: no network, no disk cache, no codec. Its C target holds what Glibc's module does not show to Swift.
        .target(name: "CNukeCore", path: "Sources/CInterop/CNukeCore"),
        .target(name: "NukeCore", dependencies: ["CNukeCore"]),

        // C libraries that are linked: a system library for the flags, a shim that is all that Swift sees.
        .systemLibrary(
            name: "CNukeJPEGSystem", path: "Sources/CInterop/CNukeJPEGSystem", pkgConfig: "libjpeg",
            providers: [.apt(["libjpeg62-turbo-dev"])]),
        .target(name: "CNukeJPEG", dependencies: ["CNukeJPEGSystem"], path: "Sources/CInterop/CNukeJPEG"),
        .systemLibrary(
            name: "CNukePNGSystem", path: "Sources/CInterop/CNukePNGSystem", pkgConfig: "libpng",
            providers: [.apt(["libpng-dev"])]),
        .target(name: "CNukePNG", dependencies: ["CNukePNGSystem"], path: "Sources/CInterop/CNukePNG"),
        .systemLibrary(
            name: "CNukeWebPSystem", path: "Sources/CInterop/CNukeWebPSystem", pkgConfig: "libwebp",
            providers: [.apt(["libwebp-dev"])]),
        .target(name: "CNukeWebP", dependencies: ["CNukeWebPSystem"], path: "Sources/CInterop/CNukeWebP"),
        // What the disk cache needs of Glibc and Swift does not see.
        .target(name: "CNukeDisk", path: "Sources/CInterop/CNukeDisk"),
        // C libraries that are opened at first use: never linked.
        .target(name: "CNukeColor", path: "Sources/CInterop/CNukeColor"),
        .target(name: "CNukeCurl", path: "Sources/CInterop/CNukeCurl"),
        .target(name: "CNukeHEIF", path: "Sources/CInterop/CNukeHEIF"),
        .target(name: "CNukeSVG", path: "Sources/CInterop/CNukeSVG"),
        .target(name: "CNukeVideo", path: "Sources/CInterop/CNukeVideo"),

        .target(name: "NukeColorManagement", dependencies: ["NukeCore", "CNukeColor"]),
        .target(name: "NukeDecodersBasic", dependencies: ["NukeCore"]),
        .target(name: "NukeDecodersGIF", dependencies: ["NukeCore"]),
        .target(name: "NukeDecodersHEIF", dependencies: ["NukeCore", "CNukeHEIF"]),
        .target(name: "NukeDecodersJPEG", dependencies: ["NukeCore", "CNukeJPEG"]),
        .target(name: "NukeDecodersPNG", dependencies: ["NukeCore", "CNukePNG"]),
        .target(name: "NukeDecodersWebP", dependencies: ["NukeCore", "CNukeWebP"]),
        .target(name: "NukeCurlLoader", dependencies: ["NukeCore", "CNukeCurl"]),
        .target(name: "NukeDiskCache", dependencies: ["NukeCore", "CNukeDisk"]),
        .target(name: "NukeSVG", dependencies: ["NukeCore", "CNukeSVG"]),
        .target(name: "NukeVideo", dependencies: ["NukeCore", "CNukeVideo"]),
        .target(
            name: "NukeKit",
            dependencies: [
                "NukeCore", "NukeCurlLoader", "NukeDecodersGIF", "NukeDecodersHEIF", "NukeDecodersJPEG",
                "NukeDecodersPNG", "NukeDecodersWebP", "NukeDiskCache", "NukeSVG", "NukeVideo",
            ]),
        .target(name: "NukeTestKit", dependencies: ["NukeCore"]),
        .target(name: "NukeCLI", dependencies: ["NukeKit", "NukeColorManagement"]),
        .executableTarget(
            name: "nuke", dependencies: ["NukeCLI"],
            linkerSettings: isStaticLinkingPossible == true ? staticLinking : []),

        // What the demonstration and the tests use; none of it is in a product.
        .target(name: "GeneratedImages", dependencies: ["NukeCore"], path: "Tests/GeneratedImages"),
        .executableTarget(
            name: "nuke-demo", dependencies: ["NukeKit", "GeneratedImages", "NukeTestSupport"], path: "Examples/Demo"),
        .target(
            name: "NukeTestSupport", dependencies: ["CNukeCore", "NukeCore", "NukeTestKit"],
            path: "Tests/NukeTestSupport"),
        .testTarget(name: "NukeCoreTests", dependencies: ["NukeCore", "NukeTestSupport"]),
        .testTarget(
            name: "NukeColorManagementTests",
            dependencies: ["NukeColorManagement", "NukeDecodersJPEG", "NukeTestSupport"]),
        .testTarget(
            name: "NukeDecodersBasicTests", dependencies: ["NukeDecodersBasic", "NukeTestKit", "NukeTestSupport"]),
        .testTarget(
            name: "NukeDecodersGIFTests", dependencies: ["NukeDecodersGIF", "NukeTestKit", "NukeTestSupport"]),
        .testTarget(
            name: "NukeDecodersHEIFTests", dependencies: ["NukeDecodersHEIF", "NukeTestKit", "NukeTestSupport"]),
        .testTarget(
            name: "NukeDecodersJPEGTests", dependencies: ["NukeDecodersJPEG", "NukeTestKit", "NukeTestSupport"]),
        .testTarget(
            name: "NukeDecodersPNGTests", dependencies: ["NukeDecodersPNG", "NukeTestKit", "NukeTestSupport"]),
        .testTarget(
            name: "NukeDecodersWebPTests", dependencies: ["NukeDecodersWebP", "NukeTestKit", "NukeTestSupport"]),
        .testTarget(name: "NukeSVGTests", dependencies: ["NukeSVG", "NukeTestKit", "NukeTestSupport"]),
        .testTarget(
            name: "NukeVideoTests", dependencies: ["NukeVideo", "NukeCurlLoader", "NukeTestKit", "NukeTestSupport"]),
        .testTarget(
            name: "NukeTestKitTests",
            dependencies: [
                "NukeDecodersGIF", "NukeDecodersHEIF", "NukeDecodersJPEG", "NukeDecodersPNG", "NukeDecodersWebP",
                "NukeTestKit", "NukeTestSupport",
            ]),
        .testTarget(name: "NukeCurlLoaderTests", dependencies: ["NukeCurlLoader", "NukeTestKit", "NukeTestSupport"]),
        .testTarget(
            name: "NukeDiskCacheTests",
            dependencies: ["NukeDiskCache", "CNukeDisk", "NukeTestKit", "NukeTestSupport", "DiskCacheProcess"]),
        // What the tests of the disk cache run in processes of their own, and kill.
        .executableTarget(
            name: "DiskCacheProcess", dependencies: ["NukeDiskCache", "NukeTestSupport"], path: "Tests/DiskCacheProcess"
        ),
        .testTarget(
            name: "NukeKitTests", dependencies: ["NukeKit", "NukeTestKit", "NukeTestSupport", "GeneratedImages"]),
        .testTarget(
            name: "NukeCLITests", dependencies: ["NukeCLI", "NukeKit", "NukeTestSupport", "GeneratedImages"]),
    ],
    swiftLanguageModes: [.v6]
)

// The sanitizers' steps of Scripts/check build only the tests that they run.
if let tests = Context.environment["NUKE_TESTS"]?.split(separator: " "), !tests.isEmpty {
    package.targets.removeAll { $0.type == .test && !tests.contains(Substring($0.name)) }
}

for target in package.targets where target.type != .system {
    let isTest = target.path?.hasPrefix("Tests/") ?? (target.type == .test)
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),  // SE-0335
        .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
        .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461
        .enableUpcomingFeature("InferIsolatedConformances"),  // SE-0470
        .enableExperimentalFeature("Lifetimes"),  // spans returned from our own types, SE-0446
    ]
    if !isTest { target.swiftSettings?.append(.strictMemorySafety()) }  // SE-0458
}
