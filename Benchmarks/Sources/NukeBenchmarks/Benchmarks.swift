/// Measures the package: see README.md.
@main
enum Benchmarks {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        switch (words.first, words.count) {
        case ("inputs", 2): try await Inputs.make(in: words[1])
        case ("decode", 3): try DecodePass.run(path: words[1], passes: Int(words[2]) ?? 5)
        case ("decode", 4):
            try DecodePass.run(path: words[1], passes: Int(words[2]) ?? 5, longerSide: Double(words[3]))
        case ("load", 3): try await LoadPass.run(path: words[1], passes: Int(words[2]) ?? 5)
        case ("previews", 3): try PreviewPass.whole(path: words[1], passes: Int(words[2]) ?? 5)
        case ("first-preview", 3): try PreviewPass.first(path: words[1], passes: Int(words[2]) ?? 5)
        case ("frames", 3): try await FramesPass.run(path: words[1], passes: Int(words[2]) ?? 5)
        case ("http", 4):
            try await HTTPPass.run(base: words[1], count: Int(words[2]) ?? 1000, concurrency: Int(words[3]) ?? 6)
        case ("hits", _): try await HitPass.run()
        case ("cold", _): try await ColdPass.run()
        case ("budget", 4):
            try await BudgetPass.run(folder: words[1], megabytes: Int(words[2]) ?? 800, count: Int(words[3]) ?? 100)
        case ("large", 3): try BudgetPass.writeFiles(in: words[1], count: Int(words[2]) ?? 100)
        case ("compare", _) where words.count >= 4:
            try Comparison(inputs: words[1], programs: words[2], nuke: words[3], url: words.count > 4 ? words[4] : nil)
                .run()
        default:
            print(
                "usage: nuke-benchmarks inputs FOLDER | hits | cold")
            print("       nuke-benchmarks decode|load|frames|previews|first-preview FILE PASSES")
            print("       nuke-benchmarks decode FILE PASSES LONGER-SIDE")
            print("       nuke-benchmarks http URL COUNT CONCURRENCY")
            print("       nuke-benchmarks budget FOLDER MEGABYTES COUNT")
            print("       nuke-benchmarks compare INPUTS PROGRAMS NUKE [URL]")
        }
    }
}
