import FoundationEssentials
import NukeKit

/// `nuke info`: tells what the headers of the inputs say, and with `--stats` what the pixels are.
struct InfoCommand: Sendable {
    private let arguments: Arguments

    init(_ arguments: Arguments) { self.arguments = arguments }

    func run() async -> ExitStatus {
        ProgramSetup.install()
        do throws(UsageError) {
            let inputs = try Input.all(of: arguments)
            let cores = TaskQueue.defaultConcurrentOperationCount
            let concurrency = try arguments.integer(.concurrency, in: 1...1024) ?? cores
            let pipeline = try CommandPipeline(arguments, inputs: inputs, concurrency: concurrency)
            Interruption.install()
            return await run(inputs, pipeline, concurrency)
        } catch {
            Terminal.writeError("nuke: \(error.message)\nTry `nuke --help`.\n")
            return .usage
        }
    }

    private func run(_ inputs: [Input], _ pipeline: CommandPipeline, _ concurrency: Int) async -> ExitStatus {
        let lines = OrderedLines { Terminal.write($0) }
        let writesJSON = arguments.has(.json)
        var failures = 0
        await withTaskGroup(of: ImageInfo.self) { group in
            func note(_ info: ImageInfo) {
                failures += info.error == nil ? 0 : 1
                if let error = info.error { Terminal.writeError("nuke: \(info.input): \(error)\n") }
                lines.put(writesJSON ? info.json.text + "\n" : info.text, at: info.index)
            }
            for index in inputs.indices {
                if index >= concurrency, let info = await group.next() { note(info) }
                group.addTask { await self.info(of: inputs[index], index, pipeline.pipeline) }
            }
            for await info in group { note(info) }
        }
        await pipeline.finish()
        return failures == 0 ? .success : .failure
    }

    private func info(of input: Input, _ index: Int, _ pipeline: ImagePipeline) async -> ImageInfo {
        var info = ImageInfo(index: index, input: input.text)
        do {
            let request = input.request()
            let (data, response) = try await pipeline.data(for: request)
            info.byteCount = data.count
            let context = ImageDecodingContext(request: request, data: data, dataResponse: response)
            let needsPixels = arguments.has(.stats)
            guard let decoder = ImageDecoderRegistry.shared.decoder(for: context) else {
                throw ImagePipeline.Error.decoderNotRegistered(context: context)
            }
            info.format = ImageDecoderRegistry.shared.format(of: data)?.name.lowercased()
            let animation: ImageAnimation?
            (info.properties, info.statistics, animation) = try await CodecThreads.shared.run {
                let properties = try decoder.properties(of: data)
                guard needsPixels else { return (properties, nil, nil) }
                var container = try decoder.decode(data)
                // Of colours, what an embedded profile says counts here.
                if properties?.hasICCProfile ?? true { container.convertToSRGB(for: request) }
                return (properties, ImageStatistics(container.image), container.animation)
            }
            if let animation {
                info.frameMeans = try await Self.frameMeans(of: animation)
                // What is shown first: an animated PNG's still picture need not be a frame of it.
                let first = try await animation.frame(at: 0)
                info.statistics = await CodecThreads.shared.run { ImageStatistics(first) }
            }
        } catch {
            info.error = "\(error)"
        }
        return info
    }

    /// Means of the first frames, 16 at most.
    private static func frameMeans(of animation: ImageAnimation) async throws -> [[Double]] {
        var means: [[Double]] = []
        for index in 0..<min(16, animation.frameCount) {
            let frame = try await animation.frame(at: index)
            means.append(await CodecThreads.shared.run { ImageStatistics(frame).mean })
        }
        return means
    }
}

/// What `nuke info` tells of one input.
struct ImageInfo: Sendable {
    let index: Int
    let input: String
    var format: String?
    var byteCount: Int?
    var properties: ImageProperties?
    var statistics: ImageStatistics?
    var frameMeans: [[Double]]?
    var error: String?

    /// A line for programs.
    var json: JSONLine {
        var line = JSONLine()
        line.add("input", .text(input))
        for (name, value) in members { line.add(name, value) }
        if let error { line.add("error", .text(error)) }
        return line
    }

    /// Lines for people; empty where there is just an error.
    var text: String {
        guard error == nil else { return "" }
        return members.reduce("\(input):\n") { text, member in
            var line = JSONLine()
            line.add(member.0, member.1)
            return text + "  " + line.text.dropFirst().dropLast().replacing("\"", with: "") + "\n"
        }
    }

    private var members: [(String, JSONLine.Value)] {
        var members: [(String, JSONLine.Value)] = []
        if let format { members.append(("format", .text(format))) }
        if let properties {
            members += [
                ("width", .integer(properties.width)), ("height", .integer(properties.height)),
                ("orientation", .integer(properties.orientation.rawValue)), ("frames", .integer(properties.frameCount)),
                ("loopCount", .init(properties.loopCount)), ("hasAlpha", .flag(properties.hasAlpha)),
                ("bitDepth", .integer(properties.bitDepth)), ("colorModel", .text(properties.colorModel.rawValue)),
                ("hasICCProfile", .flag(properties.hasICCProfile)),
            ]
        }
        if let video = properties?.video {
            members += [
                ("durationMs", .init(video.duration.flatMap { Int(exactly: ($0 * 1000).rounded()) })),
                ("codec", .text(video.codec)), ("frameRate", video.frameRate.map { .number($0) } ?? .null),
                ("hasAudio", .flag(video.hasAudio)),
            ]
        }
        if let byteCount { members.append(("bytes", .integer(byteCount))) }
        if let statistics {
            members.append(("mean", .init(statistics.mean)))
            members.append(("quadrantMeans", .list(statistics.quadrantMeans.map { .init($0) })))
        }
        if let frameMeans, let properties {
            members.append(("frameMeans", .list(frameMeans.map { .init($0) })))
            members.append(("frameDurationsMs", .init(properties.frameDurations.prefix(32).map { $0 * 1000 })))
        }
        return members
    }
}
