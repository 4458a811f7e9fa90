import FoundationEssentials
import Glibc
import Testing

/// A run of DiskCacheProcess, whose output comes through a pipe.
final class ChildProcess {
    private var pid = pid_t()
    private var isRunning = true
    private let output: Int32

    init(_ task: String, _ folder: String, environment: [String: String] = [:]) throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        output = ends[0]
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
        posix_spawn_file_actions_addclose(&actions, ends[1])
        defer {
            posix_spawn_file_actions_destroy(&actions)
            close(ends[1])
        }
        let program = try Self.program()
        func copies(_ strings: [String]) -> [UnsafeMutablePointer<CChar>?] { strings.map { strdup($0) } + [nil] }
        var arguments = copies([program, task, folder])
        // The process exits while threads still end, which a leak check takes for leaks.
        var variables = copies(["ASAN_OPTIONS=detect_leaks=0"] + environment.map { "\($0)=\($1)" })
        defer { for string in arguments + variables { free(string) } }
        try #require(posix_spawn(&pid, program, &actions, nil, &arguments, &variables) == 0)
    }

    deinit {
        if isRunning {
            kill()
            _ = wait()
        }
        close(output)
    }

    /// Waits for a number of bytes of output; false if the output ends before.
    func read(_ count: Int) -> Bool {
        var byte: UInt8 = 0
        for _ in 0..<count where Glibc.read(output, &byte, 1) != 1 { return false }
        return true
    }

    /// The rest of the output.
    func readAll() -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = Glibc.read(output, &buffer, buffer.count), count > 0 { bytes += buffer.prefix(count) }
        return String(decoding: bytes, as: UTF8.self)
    }

    func kill() { _ = Glibc.kill(pid, SIGKILL) }

    /// Waits for the end: the exit status, or the signal as a negative number.
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        isRunning = false
        let signal = status & 0x7f
        return signal == 0 ? (status >> 8) & 0xff : -signal
    }

    /// The program is built beside the bundle that holds these tests, which runs by itself or is loaded by a helper.
    private static func program() throws -> String {
        var bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        if let option = CommandLine.arguments.firstIndex(of: "--test-bundle-path") {
            bundle = CommandLine.arguments[option + 1]
        }
        let folder = bundle.split(separator: "/").dropLast().joined(separator: "/")
        return "/" + folder + "/DiskCacheProcess"
    }
}
