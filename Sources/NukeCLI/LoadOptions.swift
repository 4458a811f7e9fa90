import NukeKit

/// What `nuke load` was told, checked.
struct LoadOptions: Sendable {
    /// Where files go.
    enum Destination: Sendable {
        case standardOutput
        case file(String)
        case folder(String)
    }

    let inputs: [Input]
    /// Nil: the picture, of an animation its still picture.
    let frame: FrameChoice?
    /// Nil: the decoder's choice.
    let poster: ImageRequest.VideoPoster?
    let keepsMetadata: Bool
    let processors: [any ImageProcessing]
    /// The format named, or implied by the output's name; nil: that of the input where it can be encoded.
    let format: ImageFormat?
    let encoding: ImageEncodingOptions
    let destination: Destination
    let force: Bool
    let concurrency: Int
    let writesJSON: Bool
    let isQuiet: Bool
    let tellsMetrics: Bool

    init(_ arguments: Arguments, registry: ImageDecoderRegistry) throws(UsageError) {
        inputs = try Input.all(of: arguments)
        frame = try arguments.integer(.frame, in: 0...Int(Int32.max)).map { FrameChoice(index: $0) }
        poster = try VideoChoice.poster(arguments)
        keepsMetadata = arguments.has(.keepMetadata)
        processors = try Self.resize(arguments).map { [$0] } ?? []
        force = arguments.has(.force)
        writesJSON = arguments.has(.json)
        isQuiet = arguments.has(.quiet)
        tellsMetrics = arguments.has(.metrics)
        let cores = TaskQueue.defaultConcurrentOperationCount
        concurrency = try arguments.integer(.concurrency, in: 1...1024) ?? max(6, 2 * cores)
        let quality = try arguments.integer(.quality, in: 1...100) ?? 80
        encoding = ImageEncodingOptions(quality: Double(quality) / 100)
        destination = try Self.destination(arguments[.output], inputCount: inputs.count)
        format = try Self.format(arguments[.format], destination, registry)
    }

    /// The request for an input.
    ///
    /// A frame is processed once it is chosen, and nothing before.
    func request(for input: Input) -> ImageRequest {
        var request = input.request(
            processors: frame == nil ? processors : [],
            options: keepsMetadata ? [.preserveMetadata, .preserveColorSpace] : [])
        request.videoPoster = poster
        return request
    }

    private static func resize(_ arguments: Arguments) throws(UsageError) -> ImageProcessors.Resize? {
        let modes = [Option.Name.fit, .fill, .crop].filter { arguments.has($0) }
        guard modes.count <= 1 else { throw UsageError(message: "of --fit, --fill and --crop, one is enough") }
        guard let text = arguments[.resize] else {
            guard modes.isEmpty, !arguments.has(.enlarge) else {
                throw UsageError(message: "--\(modes.first?.rawValue ?? "enlarge") needs --resize")
            }
            return nil
        }
        let upscale = arguments.has(.enlarge)
        let sides = text.lowercased().split(separator: "x", omittingEmptySubsequences: false)
        let wrong = UsageError(message: "--resize wants W, xH or WxH, in pixels from 1 to 65535, not \(text)")
        func side(_ text: Substring) throws(UsageError) -> Double {
            guard let number = Int(text), (1...65_535).contains(number) else { throw wrong }
            return Double(number)
        }
        guard sides.count <= 2 else { throw wrong }
        if sides.count == 1 || sides[0].isEmpty {
            guard modes.isEmpty else { throw UsageError(message: "--\(modes[0].rawValue) needs --resize WxH") }
            return sides.count == 1
                ? ImageProcessors.Resize(width: try side(sides[0]), unit: .pixels, upscale: upscale)
                : ImageProcessors.Resize(height: try side(sides[1]), unit: .pixels, upscale: upscale)
        }
        return ImageProcessors.Resize(
            size: ImageSize(width: try side(sides[0]), height: try side(sides[1])), unit: .pixels,
            contentMode: modes.isEmpty || modes == [.fit] ? .aspectFit : .aspectFill, crop: modes == [.crop],
            upscale: upscale)
    }

    private static func destination(_ output: String?, inputCount: Int) throws(UsageError) -> Destination {
        guard let output else { return .folder("") }
        if output == "-" {
            guard inputCount == 1 else { throw UsageError(message: "-o - takes one INPUT, not \(inputCount)") }
            return .standardOutput
        }
        guard !output.isEmpty else { throw UsageError(message: "-o wants a file or a folder") }
        if inputCount == 1, !output.hasSuffix("/"), !OutputFile.isFolder(output) { return .file(output) }
        let folder = output.hasSuffix("/") ? output : output + "/"
        do throws(OutputFile.Failure) { try OutputFile.makeFolder(folder) } catch {
            throw UsageError(message: "-o: \(error)")
        }
        return .folder(folder)
    }

    private static func format(
        _ name: String?, _ destination: Destination, _ registry: ImageDecoderRegistry
    ) throws(UsageError) -> ImageFormat? {
        if let name {
            guard let format = registry.format(named: name), format.capabilities.contains(.encode) else {
                let known = registry.formats.filter { $0.capabilities.contains(.encode) }
                let names = known.map { $0.name.lowercased() }.joined(separator: ", ")
                throw UsageError(message: "--format \(name): formats that can be written are \(names)")
            }
            return format
        }
        guard case .file(let path) = destination, let dot = path.lastIndex(of: "."),
            let format = registry.format(named: String(path[path.index(after: dot)...]))
        else { return nil }
        guard format.capabilities.contains(.encode) else {
            throw UsageError(message: "-o \(path): \(format.name) can be read only; --format names another format")
        }
        return format
    }
}
