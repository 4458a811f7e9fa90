import FoundationEssentials

/// Something of ours that reads bytes from outside.
struct FuzzTarget: Sendable {
    /// What it is called on the command line.
    let name: String
    /// The folders of the corpus whose files it begins with.
    let seeds: [String]
    /// The source files that it is to reach, as the beginning of their paths under Sources.
    let sources: String
    /// Reads an input, which must neither crash, nor hang, nor take what the limits forbid, whatever it holds.
    let run: @Sendable (Data) -> Void

    static let all = parsers + decoders
}
