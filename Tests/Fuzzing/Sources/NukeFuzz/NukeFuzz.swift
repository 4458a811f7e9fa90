import CFuzzing
import FoundationEssentials
import Glibc

/// Runs one target over inputs that libFuzzer thinks up.
///
/// `NukeFuzz TARGET [libFuzzer's arguments]`. `NukeFuzz --list` prints the targets and the sources that each is to reach;
/// `NukeFuzz --seeds CORPUS FOLDER` writes what each begins with to a folder of its own.
@main
enum NukeFuzz {
    /// Chosen before the first input comes, and never again.
    nonisolated(unsafe) static var target = FuzzTarget.all[0]

    static func main() {
        let arguments = CommandLine.arguments
        if arguments.dropFirst().first == "--list" {
            for target in FuzzTarget.all { print(target.name, target.sources) }
            return
        }
        if arguments.count == 4, arguments[1] == "--seeds" { return writeSeeds(from: arguments[2], to: arguments[3]) }
        guard let name = arguments.dropFirst().first, let target = FuzzTarget.all.first(where: { $0.name == name })
        else {
            print("usage: NukeFuzz TARGET [arguments of libFuzzer]; NukeFuzz --list")
            exit(2)
        }
        Self.target = target
        // libFuzzer takes what follows the program's name for its own.
        var count = Int32(arguments.count - 1)
        var pointers: [UnsafeMutablePointer<CChar>?] = ([arguments[0]] + arguments.dropFirst(2)).map { strdup($0) }
        pointers.append(nil)
        let status = pointers.withUnsafeMutableBufferPointer { buffer -> Int32 in
            guard var base = buffer.baseAddress else { return 2 }
            return withUnsafeMutablePointer(to: &base) { LLVMFuzzerRunDriver(&count, $0) { fuzzOne($0, $1) } }
        }
        exit(status)
    }

    private static func writeSeeds(from corpus: String, to folder: String) {
        for target in FuzzTarget.all {
            let place = "\(folder)/\(target.name)"
            do {
                try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
                for (index, input) in Seeds(corpus: corpus).inputs(of: target).enumerated() {
                    try input.write(to: URL(filePath: "\(place)/seed-\(index)"))
                }
            } catch {
                print("\(place): \(error)")
                exit(1)
            }
        }
    }
}

/// The entry that libFuzzer's runtime looks for, beside the one that it is handed.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOne(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let data = bytes.map { Data(bytes: $0, count: count) } ?? Data()
    NukeFuzz.target.run(data)
    return 0
}
