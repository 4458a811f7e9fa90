import Glibc

/// Runs ours and the limits in C by turns and prints medians, quartiles and the ratio within each round.
struct Comparison {
    let inputs: String
    let programs: String
    let nuke: String
    let url: String?
    private let rounds = 15

    /// One thing measured in two programs.
    private struct Case {
        let name: String
        /// Whether the programs print lines "<cpu ms> <wall ms>"; else the whole process counts.
        let printsTimes: Bool
        let limit: [String]
        let ours: [String]
    }

    init(inputs: String, programs: String, nuke: String, url: String?) throws {
        (self.inputs, self.programs, self.nuke, self.url) = (inputs, programs, nuke, url)
    }

    func run() throws {
        let (photo, ours) = ("\(inputs)/photo12.jpg", "\(programs)/nuke-benchmarks")
        var cases = [
            Case(
                name: "W1 12 MP JPEG to RGBA8", printsTimes: true, limit: ["\(programs)/limit-jpeg", photo, "3"],
                ours: [ours, "decode", photo, "3"]),
            Case(
                name: "W2 12 MP JPEG to a 320 pixel JPEG, process", printsTimes: false,
                limit: ["\(programs)/limit-thumbnail", photo, "\(inputs)/limit.jpg"],
                ours: [nuke, "load", photo, "--resize", "320", "-o", "\(inputs)/ours.jpg", "--force", "--quiet"]),
            Case(
                name: "W14 start, process", printsTimes: false, limit: ["\(programs)/limit-start"],
                ours: [nuke, "--version"]),
        ]
        let (drawing, clip) = ("\(inputs)/scene.svg", "\(inputs)/clip.mp4")
        cases += [
            Case(
                name: "W8 SVG to 1024 pixels", printsTimes: true,
                limit: ["\(programs)/limit-svg", drawing, "1024", "3"], ours: [ours, "decode", drawing, "3", "1024"]),
            Case(
                name: "W8 the same to a PNG, process, beside rsvg-convert", printsTimes: false,
                limit: ["rsvg-convert", "-w", "1024", "-h", "1024", drawing, "-o", "\(inputs)/limit.png"],
                ours: [nuke, "load", drawing, "--resize", "1024", "-o", "\(inputs)/ours.png", "--force", "--quiet"]),
            Case(
                name: "W9 poster of a 1080p MP4", printsTimes: true, limit: ["\(programs)/limit-poster", clip, "7"],
                ours: [ours, "decode", clip, "7"]),
            Case(
                name: "W9 the same to a JPEG, process, beside ffmpeg to no file", printsTimes: false,
                limit: [
                    "ffmpeg", "-v", "error", "-i", clip, "-frames:v", "1", "-pix_fmt", "rgba", "-f", "rawvideo", "-y",
                    "/dev/null",
                ],
                ours: [nuke, "load", clip, "-o", "\(inputs)/ours.jpg", "--force", "--quiet"]),
        ]
        if let url {
            for concurrency in ["6", "32"] {
                cases.append(
                    Case(
                        name: "W10 1,000 files over HTTP, \(concurrency) at once, process", printsTimes: false,
                        limit: ["\(programs)/limit-http", url, "1000", concurrency],
                        ours: [ours, "http", url, "1000", concurrency]))
            }
        }
        print("| case | limit, CPU ms | ours, CPU ms | ratio (quartiles) | ours, wall ms | ours, peak MB |")
        print("|---|---|---|---|---|---|")
        for item in cases { try measure(item) }
        print("\nW11 and W13, ns a hit, and ns a cold load (wall, CPU):\n")
        for pass in ["hits", "cold"] {
            try Spawn.run([ours, pass]).output.split(separator: "\n").forEach { print("    \($0)") }
        }
    }

    private func measure(_ item: Case) throws {
        var samples: [(limit: Double, ours: Double, wall: Double, peak: Double)] = []
        for round in 0...rounds {
            let limit = try time(item.limit, item.printsTimes)
            let ours = try time(item.ours, item.printsTimes)
            if round > 0 { samples.append((limit.cpu, ours.cpu, ours.wall, ours.peak)) }
        }
        let ratios = samples.map { $0.ours / $0.limit }.sorted()
        let quartiles = "\(rounded(ratios[ratios.count / 4]))–\(rounded(ratios[ratios.count * 3 / 4]))"
        let cells = [
            rounded(median(samples.map(\.limit))), rounded(median(samples.map(\.ours))),
            "\(rounded(median(ratios))) (\(quartiles))", rounded(median(samples.map(\.wall))),
            rounded(median(samples.map(\.peak))),
        ]
        print("| \(item.name) | " + cells.joined(separator: " | ") + " |")
    }

    private func time(_ command: [String], _ printsTimes: Bool) throws -> (cpu: Double, wall: Double, peak: Double) {
        let result = try Spawn.run(command)
        guard printsTimes else { return (result.cpu, result.wall, result.peak) }
        let lines = result.output.split(separator: "\n").map { $0.split(separator: " ").compactMap { Double($0) } }
        return (median(lines.map { $0[0] }), median(lines.map { $0[1] }), result.peak)
    }

    private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private func rounded(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }
}

/// Runs a program and takes its times from outside.
enum Spawn {
    struct Failure: Error {
        let command: [String]
        let status: Int32
    }

    /// What a program wrote to standard output, its milliseconds of CPU and of wall time, and its peak in megabytes.
    static func run(_ command: [String]) throws -> (output: String, cpu: Double, wall: Double, peak: Double) {
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_addclose(&actions, ends[0])
        var words = command.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        let start = Clock.wall
        var child = pid_t()
        let code = posix_spawnp(&child, command[0], &actions, nil, &words, environ)
        posix_spawn_file_actions_destroy(&actions)
        close(ends[1])
        defer { close(ends[0]) }
        guard code == 0 else { throw Failure(command: command, status: code) }
        var output: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 4096)
        while case let count = read(ends[0], &block, block.count), count > 0 { output += block.prefix(count) }
        var (status, usage) = (Int32(0), rusage())
        wait4(child, &status, 0, &usage)
        let wall = Clock.wall - start
        guard status == 0 else { throw Failure(command: command, status: status) }
        let cpu = [usage.ru_utime, usage.ru_stime].reduce(0) {
            $0 + Double($1.tv_sec) * 1e3 + Double($1.tv_usec) * 1e-3
        }
        return (String(decoding: output, as: UTF8.self), cpu, wall, Double(usage.ru_maxrss) / 1024)
    }
}
