import FoundationEssentials
import NukeDecodersBasic
import NukeDecodersGIF
import NukeDecodersHEIF
import NukeDecodersJPEG
import NukeDecodersPNG
import NukeDecodersWebP
import NukeSVG
import NukeVideo

@testable import NukeCore

extension FuzzTarget {
    static let decoders = [
        decoder("jpeg", .jpeg, seeds: ["jpeg"], sources: "NukeDecodersJPEG/"),
        decoder("png", .png, seeds: ["png", "apng"], sources: "NukeDecodersPNG/"),
        decoder("gif", .gif, seeds: ["gif"], sources: "NukeDecodersGIF/"),
        decoder("webp", .webp, seeds: ["webp"], sources: "NukeDecodersWebP/"),
        decoder("heic", .heic, seeds: ["heif"], sources: "NukeDecodersHEIF/"),
        decoder("avif", .avif, seeds: ["avif"], sources: "NukeDecodersHEIF/"),
        decoder("svg", .svg, seeds: ["svg"], sources: "NukeSVG/"),
        decoder("video", .mp4, seeds: ["video"], sources: "NukeVideo/Video"),
        FuzzTarget(name: "sequence", seeds: ["sequence"], sources: "NukeVideo/Sequence") { data in
            decode(
                data, ImageFormat.heicSequence.matches(data, isCompleted: true) == .yes ? .heicSequence : .avifSequence)
        },
        decoder("bmp", .bmp, seeds: ["bmp"], sources: "NukeDecodersBasic/BMP"),
        decoder("ico", .ico, seeds: ["ico"], sources: "NukeDecodersBasic/ICO"),
    ]

    private static func decoder(
        _ name: String, _ format: ImageFormat, seeds: [String], sources: String
    ) -> FuzzTarget {
        FuzzTarget(name: name, seeds: seeds, sources: sources) { decode($0, format) }
    }

    private static let posters: [ImageRequest.VideoPoster] = [
        .firstVisible, .time(seconds: 0.4), .fraction(0.5), .sheet(columns: 2, rows: 2),
    ]

    /// Reads the header, the previews of what comes in pieces, the picture and its frames, as the input's last byte says.
    private static func decode(_ data: Data, _ format: ImageFormat) {
        let choices = data.last ?? 0
        var request = ImageRequest(url: nil)
        if choices & 1 != 0 { request.thumbnail = ImageRequest.ThumbnailOptions(maxPixelSize: 40) }
        request.videoPoster = posters[Int(choices >> 4 & 3)]
        if choices & 2 != 0 { request.options = [.preserveColorSpace, .preserveMetadata, .preserveBitDepth] }
        var context = ImageDecodingContext(request: request, data: data)
        context.limits.pixelCount = 300_000
        context.limits.workingSetBytes = 64 << 20
        context.limits.frameCount = 50
        context.limits.seconds = 5
        if choices & 4 != 0 { context.truncationPolicy = .lenient }
        guard let decoder = format.makeDecoder?(context) else { return }
        if choices & 8 != 0, data.count < 1 << 16 {
            let step = max(1, data.count / 9)
            for count in stride(from: step, to: data.count, by: step) {
                _ = try? decoder.decodePartiallyDownloadedData(data.prefix(count))
            }
        }
        _ = format.sniff(ImageFormat.Prefix(data, isCompleted: true))
        do {
            if let properties = try decoder.properties(of: data) {
                precondition(properties.width > 0 && properties.height > 0, "a picture without pixels")
            }
            let container = try decoder.decode(data)
            precondition(container.image.width * container.image.height <= 300_000, "more pixels than allowed")
            try decodeFrames(of: container, data)
        } catch let error as ImageDecodingError {
            precondition(!error.description.isEmpty)
        } catch {
            preconditionFailure("\(error) is no error of decoding")
        }
    }

    /// Reads frames of an animation from the last to the first, and of a video twice from the first on, every other one unseen.
    private static func decodeFrames(of container: ImageContainer, _ data: Data) throws {
        if let animation = container.animation {
            for index in (0..<min(animation.frameCount, 6)).reversed() { _ = try animation.decodeFrame(at: index) }
        }
        guard let video = container.video else { return }
        let frames = try video.makeFrames(.data(data), ImageSize(width: 48, height: 48))
        for _ in 0..<2 {
            var isWanted = false
            for _ in 0..<4 {
                isWanted.toggle()
                guard try frames.next(isWanted: { _, _ in isWanted }) != nil else { break }
            }
            try frames.rewind()
        }
    }
}
