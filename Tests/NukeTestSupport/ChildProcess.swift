public import FoundationEssentials
import Glibc
import NukeCore

/// Runs a program, such as `nuke`, and tells what it wrote and how it ended.
public struct ChildProcess: Sendable {
    /// What came of a run.
    public struct Outcome: Sendable {
        /// The exit status; 128 + the signal's number if a signal ended it.
        public let status: Int32
        /// Standard output, as bytes.
        public let output: Data
        /// Standard error, as text.
        public let errors: String

        /// Standard output, as text.
        public var text: String { String(decoding: output, as: UTF8.self) }
    }

    /// A program built with the tests, by its name.
    public static func built(_ name: String) -> String {
        // The test runner stands in the folder of the products: …/debug/nukePackageTests.xctest.
        let path = CommandLine.arguments[0]
        return path.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/" + name
    }

    private let process: pid_t
    private let results: [Locked<Data>]
    private let ends: [AsyncGate]

    /// Starts a program; `input` is its standard input, `environment` is added to ours.
    public init(
        _ path: String, _ arguments: [String], input: Data = Data(), environment: [String: String] = [:],
        folder: String? = nil
    ) throws {
        var pipes = (0..<3).map { _ -> [Int32] in
            var ends: [Int32] = [0, 0]
            pipe(&ends)
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            return ends
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        for number in 0..<3 {
            posix_spawn_file_actions_adddup2(&actions, pipes[number][number == 0 ? 0 : 1], Int32(number))
        }
        // Programs exit while threads of the concurrency pool still end, which a leak check takes for leaks.
        let variables = ["ASAN_OPTIONS": "detect_leaks=0"].merging(ProcessInfo.processInfo.environment) { $1 }
            .merging(environment) { $1 }
        // A shell changes the folder: what posix_spawn has for it, Glibc's module does not show.
        let move = folder.map { ["/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", $0] } ?? []
        let command = move + [path] + arguments
        var words = command.map { strdup($0) } + [nil]
        var settings = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        var child = pid_t()
        let code = posix_spawn(&child, command[0], &actions, nil, &words, &settings)
        posix_spawn_file_actions_destroy(&actions)
        for word in words + settings { free(word) }
        for number in 0..<3 { close(pipes[number][number == 0 ? 0 : 1]) }
        process = child
        results = (0..<2).map { _ in Locked(Data()) }
        ends = (0..<2).map { _ in AsyncGate() }
        guard code == 0 else {
            pipes.removeAll()
            throw DataLoadingError.fileUnreadable(path, reason: String(cString: strerror(code)))
        }
        let (results, ends) = (results, ends)
        let (inputEnd, outputEnds) = (pipes[0][1], [pipes[1][0], pipes[2][0]])
        let threads = CodecThreads(name: "child", count: 3)
        threads.enqueue {
            let bytes = Array(input)
            var done = 0
            while done < bytes.count {
                let step = bytes.withUnsafeBytes {
                    write(inputEnd, $0.baseAddress.map { $0 + done }, bytes.count - done)
                }
                if step <= 0 { break }
                done += step
            }
            close(inputEnd)
        }
        for index in 0..<2 {
            threads.enqueue {
                var block = [UInt8](repeating: 0, count: 64 << 10)
                while case let count = read(outputEnds[index], &block, block.count), count > 0 {
                    let bytes = Data(block.prefix(count))
                    results[index].withLock { $0.append(bytes) }
                }
                close(outputEnds[index])
                ends[index].open()
            }
        }
    }

    /// Runs a program to its end.
    public static func run(
        _ path: String, _ arguments: [String], input: Data = Data(), environment: [String: String] = [:],
        folder: String? = nil
    ) async throws -> Outcome {
        try await ChildProcess(path, arguments, input: input, environment: environment, folder: folder).outcome()
    }

    /// Sends a signal.
    public func signal(_ number: Int32) { kill(process, number) }

    /// Waits for the end.
    public func outcome() async -> Outcome {
        for end in ends { await end.wait() }
        let process = process
        let status = await CodecThreads.disk.run {
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
            return status
        }
        let signal = status & 0x7F
        return Outcome(
            status: signal == 0 ? (status >> 8) & 0xFF : 128 + signal, output: results[0].withLock { $0 },
            errors: String(decoding: results[1].withLock { $0 }, as: UTF8.self))
    }
}
