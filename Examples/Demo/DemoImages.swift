import FoundationEssentials
import GeneratedImages
import NukeKit

/// The twenty images of the demonstration.
enum DemoImages {
    /// How one of them is made.
    struct Recipe: Sendable {
        let name: String
        let make: @Sendable () throws -> Data
    }

    /// Eight photographs of 6 megapixels and more, one for each EXIF orientation, and twelve others.
    static let recipes: [Recipe] = photos + others

    private static let photos: [Recipe] = ImageOrientation.allCases.map { orientation in
        let index = orientation.rawValue
        return Recipe(name: "photo-\(index).jpg") {
            // From 6 to 12 megapixels; every other one progressive.
            let width = 2880 + 160 * index
            let stored = GeneratedImage.photo(width: width, height: width * 3 / 4, seed: UInt64(index))
            let jpeg = try encode(stored, .jpeg, .init(quality: 0.85, isProgressive: index % 2 == 0))
            return EXIF.adding(orientation, to: jpeg)
        }
    }

    private static let others: [Recipe] = [
        jpeg("baseline.jpg", .init()) { GeneratedImage.photo(width: 1600, height: 1200, seed: 21) },
        jpeg("baseline-444.jpg", .init(chromaSubsampling: .none)) {
            GeneratedImage.photo(width: 1500, height: 1000, seed: 22)
        },
        jpeg("progressive.jpg", .init(isProgressive: true)) {
            GeneratedImage.photo(width: 1200, height: 1600, seed: 23)
        },
        jpeg("gray.jpg", .init()) { GeneratedImage.gray(width: 1280, height: 960) },
        jpeg("gray-progressive.jpg", .init(isProgressive: true)) { GeneratedImage.gray(width: 641, height: 480) },
        jpeg("wide.jpg", .init()) { GeneratedImage.photo(width: 3000, height: 200, seed: 24) },
        jpeg("small.jpg", .init()) { GeneratedImage.photo(width: 160, height: 120, seed: 25) },
        png("photo.png") { GeneratedImage.photo(width: 1400, height: 1050, seed: 26) },
        png("alpha.png") { GeneratedImage.disc(size: 800) },
        png("gray.png") { GeneratedImage.gray(width: 900, height: 600) },
        png("sixteen-bit.png") { GeneratedImage.deep(width: 1024, height: 768) },
        png("tiny.png") { GeneratedImage.disc(size: 33) },
    ]

    private static func jpeg(
        _ name: String, _ options: ImageEncodingOptions, _ make: @escaping @Sendable () -> Bitmap
    ) -> Recipe {
        Recipe(name: name) { try encode(make(), .jpeg, options) }
    }

    private static func png(_ name: String, _ make: @escaping @Sendable () -> Bitmap) -> Recipe {
        Recipe(name: name) { try encode(make(), .png, .init()) }
    }

    static func encode(_ image: Bitmap, _ format: ImageFormat, _ options: ImageEncodingOptions) throws -> Data {
        guard let encoder = format.makeEncoder?(options) else {
            throw ImageEncodingError.encoderNotRegistered("\(format.name) has no encoder")
        }
        let context = ImageEncodingContext(request: ImageRequest(url: nil), image: image)
        return try encoder.encodedData(for: ImageContainer(image: image), context: context)
    }

    /// Makes all of them, on all cores, and writes them to a folder.
    static func write(to folder: String) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for recipe in recipes {
                group.addTask {
                    try await CodecThreads.shared.run {
                        try recipe.make().write(to: URL(filePath: folder + "/" + recipe.name))
                    }
                }
            }
            try await group.waitForAll()
        }
        print("Made \(recipes.count) images")
    }
}
