/// The program: finds the command, runs it, and exits with its status.
package enum Nuke {
    package static func main() { Terminal.exit(run().rawValue) }

    /// Everything but the exit, at which nothing is to be held any more.
    private static func run() -> ExitStatus {
        Terminal.ignoreBrokenPipes()
        do throws(UsageError) {
            return run(try Arguments(CommandLine.arguments.dropFirst()))
        } catch {
            Terminal.writeError("nuke: \(error.message)\nTry `nuke --help`.\n")
            return .usage
        }
    }

    private static func run(_ arguments: Arguments) -> ExitStatus {
        switch arguments.command {
        case .help: Terminal.write(HelpText.all)
        case .version: Terminal.write(VersionText.make())
        case .formats: FormatsCommand.run(arguments)
        case .load: return blocking { await LoadCommand(arguments).run() }
        case .info: return blocking { await InfoCommand(arguments).run() }
        case .cache: return blocking { await CacheCommand(arguments).run() }
        }
        return .success
    }

    /// Runs asynchronous work while the main thread, which is none of the concurrency pool's, waits.
    private static func blocking(_ work: @escaping @Sendable () async -> ExitStatus) -> ExitStatus {
        let result = Handover<ExitStatus>()
        Task.detached { result.put(await work()) }
        return result.take()
    }
}

/// What the program's exit status means.
enum ExitStatus: Int32 {
    /// Everything was done.
    case success = 0
    /// Some of it was not.
    case failure = 1
    /// The command line makes no sense.
    case usage = 2
    /// Stopped by SIGINT: 128 + 2.
    case interrupted = 130
}

/// A command line that makes no sense.
struct UsageError: Error {
    let message: String
}
