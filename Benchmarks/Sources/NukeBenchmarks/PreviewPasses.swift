import FoundationEssentials
import Glibc
import NukeKit

/// W6: a progressive JPEG; a line "<cpu ms> <wall ms>" a pass, after one uncounted.
enum PreviewPass {
    /// The whole picture with three previews of the same size: at a quarter, a half and three quarters of the bytes.
    static func whole(path: String, passes: Int) throws {
        let data = try Data(contentsOf: URL(filePath: path))
        for pass in 0...passes {
            let (cpu, wall) = (Clock.cpu, Clock.wall)
            let decoder = try decoder(of: data, width: nil)
            let previews = try (1...3).compactMap { quarter in
                try decoder.decodePartiallyDownloadedData(data.prefix(data.count * quarter / 4))
            }
            let image = try decoder.decode(data).image
            if pass > 0 { print(Clock.cpu - cpu, Clock.wall - wall) }
            guard previews.count == 3 else { throw ImageDecodingError.unknown }
            withExtendedLifetime((previews, image)) {}
        }
    }

    /// The first preview for a picture shown 320 pixels wide, the bytes coming in hundredths; says on standard error how many
    /// it took.
    static func first(path: String, passes: Int) throws {
        let data = try Data(contentsOf: URL(filePath: path))
        for pass in 0...passes {
            let (cpu, wall) = (Clock.cpu, Clock.wall)
            let decoder = try decoder(of: data, width: 320)
            var percent = 0
            var preview: ImageContainer?
            while preview == nil, percent < 100 {
                percent += 1
                preview = try decoder.decodePartiallyDownloadedData(data.prefix(data.count * percent / 100))
            }
            if pass > 0 { print(Clock.cpu - cpu, Clock.wall - wall) }
            if pass == 0 {
                let size = preview.map { "\($0.image.width)x\($0.image.height)" } ?? "none"
                let line = Array("first preview at \(percent) % of the bytes, \(size)\n".utf8)
                write(STDERR_FILENO, line, line.count)
            }
        }
    }

    private static func decoder(of data: Data, width: Double?) throws -> any ImageDecoding {
        var request = ImageRequest(url: nil)
        request.thumbnail = width.map { .init(size: ImageSize(width: $0, height: $0), unit: .pixels) }
        let context = ImageDecodingContext(request: request, data: data)
        guard let decoder = ImageFormat.jpeg.makeDecoder?(context) else { throw ImageDecodingError.unknown }
        return decoder
    }
}

/// W1 as a load through the pipeline, colours and all, without caches; a line "<cpu ms> <wall ms>" a pass likewise.
enum LoadPass {
    @concurrent
    static func run(path: String, passes: Int) async throws {
        NukeKit.install()
        let data = try Data(contentsOf: URL(filePath: path))
        let pipeline = ImagePipeline { $0.imageCache = nil }
        for pass in 0...passes {
            let (cpu, wall) = (Clock.cpu, Clock.wall)
            let image = try await pipeline.image(for: ImageRequest(id: "\(pass)", data: { data }))
            if pass > 0 { print(Clock.cpu - cpu, Clock.wall - wall) }
            withExtendedLifetime(image) {}
        }
    }
}
