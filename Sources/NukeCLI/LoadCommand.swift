import FoundationEssentials
import NukeKit

/// `nuke load`: loads, resizes, encodes and writes every input, several at once.
struct LoadCommand: Sendable {
    private let arguments: Arguments

    init(_ arguments: Arguments) { self.arguments = arguments }

    func run() async -> ExitStatus {
        ProgramSetup.install()
        do throws(UsageError) {
            let options = try LoadOptions(arguments, registry: .shared)
            let pipeline = try CommandPipeline(arguments, inputs: options.inputs, concurrency: options.concurrency)
            Interruption.install()
            return await LoadRun(options, pipeline).run()
        } catch {
            Terminal.writeError("nuke: \(error.message)\nTry `nuke --help`.\n")
            return .usage
        }
    }
}

/// One run of `nuke load`.
private struct LoadRun: Sendable {
    let options: LoadOptions
    let pipeline: CommandPipeline
    let names: OutputNames
    let progress: ProgressBar
    /// The first input with the same text, for each: equal inputs of a run load once.
    let firsts: [Int]

    init(_ options: LoadOptions, _ pipeline: CommandPipeline) {
        self.options = options
        self.pipeline = pipeline
        names = OutputNames(stems: options.inputs.map(\.stem))
        progress = ProgressBar(total: options.inputs.count, isQuiet: options.isQuiet)
        var seen: [String: Int] = [:]
        firsts = options.inputs.enumerated().map { index, input in
            defer { if seen[input.text] == nil { seen[input.text] = index } }
            return seen[input.text] ?? index
        }
    }

    func run() async -> ExitStatus {
        progress.start()
        let loads = SharedLoads(pipeline: pipeline.pipeline, firsts: firsts)
        let lines = OrderedLines { text in
            if case .standardOutput = options.destination { Terminal.writeError(text) } else { Terminal.write(text) }
        }
        var failures = 0
        await withTaskGroup(of: LoadResult.self) { group in
            func note(_ result: LoadResult) {
                failures += result.error == nil ? 0 : 1
                report(result, lines)
            }
            for index in options.inputs.indices {
                if index >= options.concurrency, let result = await group.next() { note(result) }
                group.addTask { await load(index, loads) }
            }
            for await result in group { note(result) }
        }
        progress.finish()
        await pipeline.finish()
        return failures == 0 ? .success : .failure
    }

    private func report(_ result: LoadResult, _ lines: OrderedLines) {
        if let error = result.error { progress.writeError("nuke: \(result.input): \(error)\n") }
        if let metrics = result.metrics, !options.writesJSON {
            progress.writeError(MetricsTable(metrics: metrics).text(for: result.input))
        }
        if options.writesJSON {
            lines.put(result.json.text + "\n", at: result.index)
        } else {
            let isSilent = options.isQuiet || result.error != nil
            lines.put(isSilent ? "" : result.line + "\n", at: result.index)
        }
        progress.advance()
    }

    private func load(_ index: Int, _ loads: SharedLoads) async -> LoadResult {
        let input = options.inputs[index]
        var result = LoadResult(index: index, input: input.text)
        let start = ContinuousClock.now
        do {
            let request = options.request(for: input)
            var response = try await loads.response(for: request, at: index, first: firsts[index])
            if let frame = options.frame {
                response.container = try await frame.container(of: response, processors: options.processors)
            }
            let format = try outputFormat(for: response)
            let data = try await encode(response, as: format)
            result.format = format.name.lowercased()
            result.size = response.container.image.size
            result.byteCount = data.count
            result.cache = response.cacheType
            if options.tellsMetrics { result.metrics = response.metrics }
            result.output = try await write(data, index, format)
        } catch {
            names.settle(index)
            result.error = "\(error)"
        }
        result.milliseconds = Double((ContinuousClock.now - start) / .microseconds(1)) / 1000
        return result
    }

    /// The format named; else that of the input; else JPEG for opaque images and PNG for others.
    private func outputFormat(for response: ImageResponse) throws -> ImageFormat {
        if let format = options.format { return format }
        let registry = ImageDecoderRegistry.shared
        let own = response.container.type.flatMap { registry.format(for: $0) }
        if let own, own.capabilities.contains(.encode) { return own }
        let type: AssetType = response.image.isOpaque ? .jpeg : .png
        guard let format = registry.format(for: type), format.capabilities.contains(.encode) else {
            throw ImageEncodingError.encoderNotRegistered("no format that can be written is registered")
        }
        return format
    }

    private func encode(_ response: ImageResponse, as format: ImageFormat) async throws -> Data {
        guard let encoder = format.makeEncoder?(options.encoding) else {
            throw ImageEncodingError.unsupported("no encoder for these options", codec: format.name)
        }
        let context = ImageEncodingContext(request: response.request, image: response.image)
        return try await CodecThreads.shared.run {
            try encoder.encodedData(for: response.container, context: context)
        }
    }

    private func write(_ data: Data, _ index: Int, _ format: ImageFormat) async throws -> String {
        let path: String
        switch options.destination {
        case .standardOutput: path = "-"
        case .file(let file): path = file
        case .folder(let folder):
            path = folder + (await names.name(of: index, fileExtension: format.fileExtensions.first ?? "bin"))
        }
        let force = options.force
        return try await CodecThreads.disk.run {
            if path == "-" {
                guard Terminal.write(Array(data), to: 1) else {
                    throw OutputFile.Failure(description: "cannot write standard output: the reader is gone")
                }
            } else {
                try OutputFile.write(Array(data), to: path, force: force)
            }
            return path
        }
    }
}
