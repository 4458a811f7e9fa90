import FoundationEssentials
import Glibc
import NukeKit
import NukeTestSupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct LoadCommandTests {
    let nuke: CommandLineProgram

    init() throws { nuke = try CommandLineProgram() }

    @Test("resizes as told: width, height, fit, fill, crop, and never up unless told")
    func sizes() async throws {
        try nuke.add("jpeg/gen-420.jpg", as: "a.jpg")  // 227×149
        let cases: [([String], [Int])] = [
            (["--resize", "100"], [100, 66]), (["--resize", "x100"], [152, 100]),
            (["--resize", "100x100"], [100, 66]),
            (["--resize", "100x100", "--fit"], [100, 66]), (["--resize", "100x100", "--fill"], [152, 100]),
            (["--resize", "100x100", "--crop"], [100, 100]), (["--resize", "1000"], [227, 149]),
            (["--resize", "454", "--enlarge"], [454, 298]), ([], [227, 149]),
        ]
        for (options, size) in cases {
            let outcome = try await nuke.run(["load", "a.jpg", "-o", "out.jpg", "--force", "--quiet"] + options)
            #expect(outcome.status == 0 && outcome.text.isEmpty && outcome.errors.isEmpty)
            let picture = try nuke.picture("out.jpg")
            #expect([picture.width, picture.height] == size)
        }
    }

    @Test("files get the stem of the input and the extension of the format; equal names a number, in order")
    func names() async throws {
        try FileManager.default.createDirectory(atPath: nuke.folder.file("sub"), withIntermediateDirectories: true)
        for name in ["a.jpg", "sub/a.jpg", "sub/a%41.png", "sub/a-2.jpg"] {
            try nuke.add(name.hasSuffix("png") ? "png/gen-rgb8-trns.png" : "jpeg/gen-420.jpg", as: name)
        }
        let outcome = try await nuke.run(
            "load", "a.jpg", "sub/a.jpg", "sub/a%41.png", "sub/a-2.jpg", "a.jpg", "-o", "out", "--json")
        #expect(outcome.status == 0)
        #expect(
            try outcome.objects().map { $0["output"] }
                == ["a.jpg", "a-3.jpg", "a%41.png", "a-2.jpg", "a-4.jpg"].map { .text("out/" + $0) })
        let here = try await nuke.run("load", "sub/a-2.jpg", "data:,x", "--json")
        #expect(here.status == 1 && nuke.folder.names.contains("a-2.jpg"))
    }

    @Test("one object a line, in the order of the inputs, with everything that is promised")
    func json() async throws {
        try nuke.add("png/gen-colour-under-alpha.png", as: "b.png")
        let outcome = try await nuke.run(
            "load", "missing.jpg", "b.png", "b.png", "--resize", "32", "--json", "-o", "out/")
        #expect(outcome.status == 1)
        let objects = try outcome.objects()
        #expect(objects.count == 3)
        let names = ["input", "ok", "format", "width", "height", "bytes", "cache", "milliseconds", "output", "error"]
        for object in objects { #expect(Set(object.keys) == Set(names)) }
        #expect(objects[0]["ok"] == .flag(false) && objects[0]["output"] == .null && objects[0]["cache"] == .null)
        guard case .text(let reason)? = objects[0]["error"] else {
            Issue.record("no error")
            return
        }
        #expect(reason.contains("no file") && outcome.errors == "nuke: missing.jpg: \(reason)\n")
        #expect(
            objects[1]["ok"] == .flag(true) && objects[1]["format"] == .text("png")
                && objects[1]["width"] == .number(32))
        #expect(objects[1]["cache"] == .text("none") && objects[2]["cache"] == .text("memory"))
        #expect(objects[2]["output"] == .text("out/b-2.png") && objects[1]["error"] == .null)
        #expect(objects[1]["bytes"] == .number(Double(try nuke.folder.data("out/b.png").count)))
    }

    @Test("--metrics tells what each step took: a table on standard error, or a member of the JSON objects")
    func metrics() async throws {
        try nuke.add("jpeg/gen-420.jpg", as: "a.jpg")  // 227×149
        let table = try await nuke.run("load", "a.jpg", "--resize", "20", "--metrics", "-o", "out/", "--force")
        #expect(table.status == 0 && table.text.hasPrefix("out/a.jpg: 20x13 jpeg"))
        for word in ["a.jpg: ", "data-load", "decode", "process", "227x149, decoded at ", "public.jpeg"] {
            #expect(table.errors.contains(word), "\(word)")
        }
        let json = try await nuke.run(
            "load", "a.jpg", "--resize", "20", "--metrics", "--json", "-o", "out/", "--force")
        #expect(json.status == 0 && json.errors.isEmpty)
        let metrics = try #require(try json.objects().first?["metrics"])
        guard case .object(let members) = metrics, case .list(let stages)? = members["stages"] else {
            Issue.record("\(metrics)")
            return
        }
        #expect(members["source_width"] == .number(227) && members["type"] == .text("public.jpeg"))
        #expect(stages.count >= 3)
    }

    @Test("a file that exists is kept, unless --force replaces it")
    func existingFiles() async throws {
        try nuke.add("jpeg/gen-420.jpg", as: "a.jpg")
        try Data("mine".utf8).write(to: URL(filePath: nuke.folder.file("out.jpg")))
        let kept = try await nuke.run("load", "a.jpg", "-o", "out.jpg")
        #expect(kept.status == 1 && kept.errors.contains("--force"))
        #expect(try nuke.folder.data("out.jpg") == Data("mine".utf8))
        let forced = try await nuke.run("load", "a.jpg", "-o", "out.jpg", "--force")
        #expect(forced.status == 0 && forced.text.hasPrefix("out.jpg: 227x149 jpeg"))
        #expect(try nuke.picture("out.jpg").width == 227)
        #expect(nuke.folder.names == ["a.jpg", "out.jpg"])
    }

    @Test("standard input and output carry images; JSON then goes to standard error")
    func pipes() async throws {
        let jpeg = try Fixture.data("jpeg/gen-420.jpg")
        let outcome = try await nuke.run(
            "load", "/dev/stdin", "--resize", "50", "--format", "png", "-o", "-", "--json", input: jpeg)
        #expect(outcome.status == 0 && AssetType(outcome.output) == .png)
        #expect(outcome.errors.contains("\"input\": \"/dev/stdin\"") && outcome.errors.contains("\"output\": \"-\""))
        let named = try await nuke.run("load", "/dev/stdin", input: jpeg)
        #expect(named.status == 0 && nuke.folder.names == ["stdin.jpg"])
    }

    @Test("lists come from files and from standard input")
    func lists() async throws {
        try nuke.add("jpeg/gen-420.jpg", as: "a.jpg")
        try nuke.add("png/gen-gray16.png", as: "b c.png")
        try Data("a.jpg\r\n\nb c.png\n".utf8).write(to: URL(filePath: nuke.folder.file("list")))
        #expect(try await nuke.run("load", "--from-file", "list", "-o", "one").status == 0)
        #expect(
            try await nuke.run("load", "--from-file", "-", "a.jpg", "-o", "two", input: Data("b c.png".utf8)).status
                == 0)
        let folder = nuke.folder
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.file("one")).sorted() == ["a.jpg", "b c.png"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.file("two")).sorted() == ["a.jpg", "b c.png"])
    }

    @Test("the format is the one named, or that of the file's name, or the input's")
    func formats() async throws {
        try nuke.add("jpeg/gen-420.jpg", as: "a.jpg")
        let cases: [([String], String, AssetType)] = [
            (["-o", "1.png"], "1.png", .png), (["-o", "2.jpeg"], "2.jpeg", .jpeg), (["-o", "3.xyz"], "3.xyz", .jpeg),
            (["--format", "PNG", "-o", "4.jpg"], "4.jpg", .png), (["--format", "png", "-o", "d/"], "d/a.png", .png),
            (["--quality", "5", "-o", "5.jpg"], "5.jpg", .jpeg),
        ]
        for (options, name, type) in cases {
            #expect(try await nuke.run(["load", "a.jpg"] + options).status == 0)
            #expect(AssetType(try nuke.folder.data(name)) == type)
        }
        #expect(try nuke.folder.data("5.jpg").count < nuke.folder.data("2.jpeg").count / 2)
    }

    @Test("what is written is upright and carries no EXIF")
    func metadata() async throws {
        try nuke.add("jpeg/gen-o6.jpg", as: "a.jpg")
        #expect(try await nuke.run("load", "a.jpg", "-o", "out.jpg").status == 0)
        let data = try nuke.folder.data("out.jpg")
        #expect(!data.contains(text: "Exif"))
        let picture = try nuke.picture("out.jpg")
        #expect(picture.width == 40 && picture.height == 72)
    }

    @Test("damaged and foreign files fail alone, with a reason each; nothing half-written is left")
    func failures() async throws {
        try nuke.add("broken/trunc50-plain.png", as: "a.png")
        try Data("hello".utf8).write(to: URL(filePath: nuke.folder.file("b.jpg")))
        try nuke.add("jpeg/gen-420.jpg", as: "c.jpg")
        let outcome = try await nuke.run("load", "a.png", "b.jpg", "c.jpg", "ftp://x/y", "-o", "out")
        #expect(outcome.status == 1)
        let lines = outcome.errors.split(separator: "\n").sorted()
        #expect(lines.count == 3 && lines[0].hasPrefix("nuke: a.png: ") && lines[1].hasPrefix("nuke: b.jpg: "))
        #expect(lines[2].contains("no loader is registered for \"ftp\" URLs"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: nuke.folder.file("out")) == ["c.jpg"])
    }

    @Test("over HTTP: the second run comes from the disk cache, and --no-cache leaves it alone")
    func diskCache() async throws {
        let jpeg = try Fixture.data("jpeg/gen-420.jpg")
        let server = try ScriptedServer { _ in [.response(headers: [("Content-Type", "image/jpeg")], body: Array(jpeg))]
        }
        let url = server.url("/a/b%20c.jpg")
        for (options, cache, requests) in [([], "none", 1), ([], "disk", 1), (["--no-cache"], "none", 2)]
            as [([String], String, Int)]
        {
            let outcome = try await nuke.run(["load", url, "--json", "--force", "--resize", "64"] + options)
            #expect(outcome.status == 0 && outcome.errors.isEmpty)
            #expect(try outcome.objects()[0]["cache"] == .text(cache) && server.requests.count == requests)
        }
        #expect(nuke.folder.names == ["b c.jpg"])
        server.stop()
    }

    @Test("equal inputs of a run load once, also without a cache")
    func equalInputs() async throws {
        let jpeg = try Fixture.data("jpeg/gen-420.jpg")
        let server = try ScriptedServer { _ in [.response(body: Array(jpeg))] }
        let url = server.url("/a.jpg")
        let outcome = try await nuke.run(
            ["load"] + Array(repeating: url, count: 20) + ["--no-cache", "--concurrency", "3", "-o", "out"])
        #expect(outcome.status == 0 && server.requests.count == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: nuke.folder.file("out")).count == 20)
        server.stop()
    }

    @Test("SIGINT ends with 130 and leaves no partial file")
    func interruption() async throws {
        // The server's own thread sends the signal: other tests may hold all others for longer than `nuke` waits for data.
        let (program, started) = (Locked(ChildProcess?.none), ThreadGate())
        let interrupt: @Sendable () -> Void = {
            started.wait()
            program.withLock { $0?.signal(SIGINT) }
        }
        let server = try ScriptedServer { _ in [.run(interrupt), .stall] }
        let folder = nuke.folder
        let process = try ChildProcess(
            ChildProcess.built("nuke"), ["load", server.url("/a.jpg"), "--no-cache"], folder: folder.path)
        program.withLock { $0 = process }
        started.open()
        let outcome = await process.outcome()
        #expect(outcome.status == 130 && folder.names == [])
        server.stop()
    }

    @Test("no progress bar and no colour where standard error is no terminal")
    func noBar() async throws {
        try nuke.add("jpeg/gen-420.jpg", as: "a.jpg")
        let outcome = try await nuke.run("load", "a.jpg", "a.jpg", "a.jpg", "-o", "out")
        #expect(outcome.status == 0 && outcome.errors.isEmpty && !outcome.text.contains("\u{1B}"))
        #expect(outcome.text.split(separator: "\n").count == 3)
    }
}
