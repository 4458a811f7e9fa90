/// A list of processors as part of an identity: equal if as long and pairwise equal by `hashableIdentifier`.
///
/// The hash looks at the count alone, so it costs nothing; equality decides.
struct ProcessorList: Hashable, Sendable {
    let processors: [any ImageProcessing]

    init(_ processors: [any ImageProcessing]) { self.processors = processors }

    static func == (a: ProcessorList, b: ProcessorList) -> Bool {
        if a.processors.count != b.processors.count { return false }
        return zip(a.processors, b.processors).allSatisfy { $0.hashableIdentifier == $1.hashableIdentifier }
    }

    func hash(into hasher: inout Hasher) { hasher.combine(processors.count) }
}
