import FoundationEssentials
import NukeKit
import NukeTestSupport
import Testing

/// Runs the program `nuke` in an environment of the test's own.
struct CommandLineProgram: Sendable {
    let folder: TemporaryFolder
    let cache: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        cache = try TemporaryFolder()
    }

    func run(_ arguments: String..., input: Data = Data()) async throws -> ChildProcess.Outcome {
        try await run(arguments, input: input)
    }

    func run(
        _ arguments: [String], input: Data = Data(), environment: [String: String] = [:]
    ) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(
            ChildProcess.built("nuke"), arguments, input: input,
            environment: environment.merging(["NUKE_CACHE_DIR": cache.path]) { $1 }, folder: folder.path)
    }

    /// Copies a fixture into the folder.
    func add(_ fixture: String, as name: String) throws {
        try Fixture.data(fixture).write(to: URL(filePath: folder.file(name)))
    }

    /// The picture in a file of the folder.
    func picture(_ name: String) throws -> Bitmap {
        let data = try folder.data(name)
        let context = ImageDecodingContext(request: ImageRequest(url: nil), data: data)
        let format = AssetType(data) == .png ? ImageFormat.png : .jpeg
        return try #require(format.makeDecoder?(context)).decode(data).image
    }
}

extension ChildProcess.Outcome {
    /// The objects that the lines of standard output are.
    func objects() throws -> [[String: JSONValue]] {
        try text.split(separator: "\n").map { try JSONDecoder().decode([String: JSONValue].self, from: Data($0.utf8)) }
    }
}

/// Any JSON value.
enum JSONValue: Decodable, Equatable {
    case null
    case flag(Bool)
    case number(Double)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let members = try? container.decode([String: JSONValue].self) {
            self = .object(members)
        } else {
            self = .list(try container.decode([JSONValue].self))
        }
    }
}

@Suite(.timeLimit(.minutes(2)))
struct CommandLineTests {
    let nuke: CommandLineProgram

    init() throws { nuke = try CommandLineProgram() }

    @Test("help and version say what they should, on standard output")
    func helpAndVersion() async throws {
        let help = try await nuke.run("--help")
        #expect(help.status == 0 && help.errors.isEmpty)
        for word in [
            "nuke load", "--resize", "--quality", "--from-file", "--no-cache", "cache stats|clear", "--stats",
            "--metrics", "--frame N", "--keep-metadata",
        ] {
            #expect(help.text.contains(word))
        }
        let version = try await nuke.run("--version")
        #expect(version.status == 0 && version.text.hasPrefix("nuke "))
        for library in ["libjpeg-turbo", "libpng", "libcurl"] { #expect(version.text.contains(library)) }
    }

    @Test(
        "a command line that makes no sense ends with 2 and a word on how to go on",
        arguments: [
            [], ["frobnicate"], ["load"], ["load", "a", "--nonsense"], ["load", "a", "--resize"],
            ["load", "a", "--resize", "0"],
            ["load", "a", "--resize", "axb"], ["load", "a", "--resize", "10x"], ["load", "a", "--resize", "1x2x3"],
            ["load", "a", "--fit"], ["load", "a", "--resize", "10", "--crop"],
            ["load", "a", "--resize", "9x9", "--fit", "--fill"],
            ["load", "a", "--quality", "101"], ["load", "a", "--quality", "0"], ["load", "a", "--format", "bmp"],
            ["load", "a", "b", "-o", "-"], ["info"], ["formats", "--resize", "1"], ["cache"], ["cache", "destroy"],
            ["load", "a", "--json=1"], ["load", "--from-file", "missing"], ["load", "a", "--concurrency", "0"],
            ["load", "a", "--frame", "-1"], ["load", "a", "--frame", "x"], ["load", "a", "--keep-metadata=1"],
            ["info", "a", "--frame", "0"],
            ["load", "http://x/y", "--cache", "d", "--no-cache"],
        ] as [[String]])
    func usage(arguments: [String]) async throws {
        let outcome = try await nuke.run(arguments)
        #expect(outcome.status == 2 && outcome.text.isEmpty)
        #expect(outcome.errors.hasPrefix("nuke: ") && outcome.errors.contains("nuke --help"))
        #expect(nuke.folder.names == [])
    }

    @Test("formats tells what can be read and written")
    func formats() async throws {
        NukeKit.install()
        let plain = try await nuke.run("formats")
        #expect(plain.status == 0 && plain.text.contains("JPEG: ") && plain.text.contains("PNG: "))
        let objects = try await nuke.run("formats", "--json").objects()
        let pictures = ["jpeg", "png", "gif", "webp", "avif sequence", "heic sequence", "heic", "avif"]
        let videos = ["mp4", "m4v", "quicktime", "webm", "matroska"]
        #expect(objects.map { $0["name"] } == (pictures + videos + ["svg"]).map { .text($0) })
        #expect(objects[0]["mimeTypes"] == .list([.text("image/jpeg")]))
        for (object, format) in zip(objects, ImageDecoderRegistry.shared.formats) {
            #expect(object["library"] == format.libraryVersion().map { .text($0) } ?? .null)
            #expect(object["missing"] == format.missingLibrary().map { .text($0) } ?? .null)
            if let library = format.missingLibrary() ?? format.libraryVersion() {
                #expect(plain.text.contains("; \(library)\n"))
            }
            guard case .list(let capabilities)? = object["capabilities"] else {
                Issue.record("\(object)")
                continue
            }
            #expect(capabilities.contains(.text("encode")) == format.capabilities.contains(.encode))
            #expect(capabilities.contains(.text("finishesEarly")) == format.capabilities.contains(.finishesEarly))
            #expect(capabilities.contains(.text("animation")) == format.capabilities.contains(.animation))
            let encodesAnimations = format.capabilities.contains(.animationEncoding)
            #expect(capabilities.contains(.text("animationEncoding")) == encodesAnimations)
        }
    }

    @Test("the cache can be looked at and emptied")
    func cache() async throws {
        let cache = try DataCache(path: nuke.cache.path)
        cache.storeData(Data(count: 1000), for: "a")
        cache.flush()
        var object = try await nuke.run("cache", "stats", "--json").objects()[0]
        #expect(object["path"] == .text(nuke.cache.path) && object["entries"] == .number(1))
        #expect(try await nuke.run("cache", "stats").text.contains("1 entries"))
        object = try await nuke.run("cache", "clear", "--json", "--cache", nuke.cache.path).objects()[0]
        #expect(object["entries"] == .number(0) && object["bytes"] == .number(0))
    }

    @Test("info tells what the header says")
    func info() async throws {
        try nuke.add("jpeg/gen-o6.jpg", as: "a.jpg")
        try nuke.add("png/gen-pal8-trns.png", as: "b.png")
        let outcome = try await nuke.run("info", "a.jpg", "b.png", "--json")
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        let objects = try outcome.objects()
        let jpeg: [String: JSONValue] = [
            "input": .text("a.jpg"), "format": .text("jpeg"), "width": .number(40), "height": .number(72),
            "orientation": .number(6), "frames": .number(1), "loopCount": .null, "hasAlpha": .flag(false),
            "bitDepth": .number(8), "colorModel": .text("rgb"), "hasICCProfile": .flag(false),
            "bytes": .number(Double(try Fixture.data("jpeg/gen-o6.jpg").count)),
        ]
        #expect(objects[0] == jpeg)
        #expect(objects[1]["colorModel"] == .text("indexed") && objects[1]["hasAlpha"] == .flag(true))
        #expect(objects[1]["mean"] == nil)
        let plain = try await nuke.run("info", "a.jpg").text
        #expect(plain.hasPrefix("a.jpg:\n") && plain.contains("width: 40"))
    }

    @Test("info --stats adds means as the manifest defines them")
    func stats() async throws {
        for path in ["jpeg/gen-o6.jpg", "png/gen-rgb8-trns.png", "png/gen-1x31.png", "jpeg/gen-gray.jpg"] {
            let entry = try #require(try Fixture.manifest().first { $0.path == path })
            let outcome = try await nuke.run("info", Fixture.folder + "/" + path, "--json", "--stats")
            let object = try outcome.objects()[0]
            guard case .list(let mean)? = object["mean"], case .list(let quadrants)? = object["quadrantMeans"] else {
                Issue.record("no means for \(path)")
                return
            }
            #expect(mean.count == 4 && quadrants.count == 4)
            for (value, expected) in zip(mean, entry.expected.mean ?? []) {
                guard case .number(let number) = value else { return }
                #expect(abs(number - expected) <= 1)
            }
        }
    }

    @Test("info of what is no image still prints an object, with the error, and ends with 1")
    func infoOfGarbage() async throws {
        try Data("hello".utf8).write(to: URL(filePath: nuke.folder.file("a.txt")))
        try nuke.add("jpeg/gen-420.jpg", as: "b.jpg")
        let outcome = try await nuke.run("info", "a.txt", "missing.png", "b.jpg", "--json")
        #expect(outcome.status == 1)
        let objects = try outcome.objects()
        #expect(objects.map { $0["error"] != nil } == [true, true, false])
        #expect(outcome.errors.split(separator: "\n").count == 2 && outcome.errors.contains("nuke: a.txt: "))
    }
}
