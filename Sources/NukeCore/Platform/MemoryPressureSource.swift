internal import CNukeCore
internal import Glibc

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A file of the kernel's, or of the service manager's, that can be waited on until memory is short.
struct MemoryPressureSource: Equatable, Sendable {
    enum Kind: Equatable, Sendable {
        /// Stall information (PSI): a trigger is written to it, and the kernel wakes who waits when it holds.
        case stalls(trigger: Data)
        /// A cgroup's `memory.events`: the kernel wakes who waits when one of its counters changes.
        case events
        /// A FIFO into which somebody writes when memory is short.
        case pipe
    }

    let path: String
    let kind: Kind
    /// What it means if the file says no more than that memory is short.
    var pressure = MemoryPressure.moderate

    /// What there is to wait on: lists of sources that say the same, the best first.
    ///
    /// The service manager's word comes first (systemd.io/MEMORY_PRESSURE), then the cgroup's, which knows its own limit,
    /// then the machine's.
    static func all(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        cgroup: String? = HostLimits.cgroupFolders.first, system: String = "/proc/pressure/memory"
    ) -> [[MemoryPressureSource]] {
        if let path = environment["MEMORY_PRESSURE_WATCH"], !path.isEmpty {
            if path == "/dev/null" { return [] }  // the administrator wants none of it
            let trigger = environment["MEMORY_PRESSURE_WRITE"].flatMap { Data(base64Encoded: $0) }
            let kind = trigger.map { Kind.stalls(trigger: $0) } ?? .pipe
            return [[MemoryPressureSource(path: path, kind: kind)]]
        }
        var lists = [stalls(in: system)]
        if let cgroup {
            let events = MemoryPressureSource(path: cgroup + "/memory.events", kind: .events)
            lists = [stalls(in: cgroup + "/memory.pressure"), [events]] + lists
        }
        return lists
    }

    /// Some threads wait for memory during 200 ms of 2 s, and all of them do: as systemd has it, and as the kernel lets
    /// anybody ask.
    private static func stalls(in path: String) -> [MemoryPressureSource] {
        [("some", MemoryPressure.moderate), ("full", .critical)].map { share, pressure in
            let trigger = Data("\(share) 200000 2000000\0".utf8)
            return MemoryPressureSource(path: path, kind: .stalls(trigger: trigger), pressure: pressure)
        }
    }

    /// Opens the file and tells the kernel what to wait for; nil if it is not there or does not let us.
    func open() -> OpenMemoryPressureSource? {
        // SAFETY: path and trigger outlive the calls that read them.
        let descriptor =
            switch kind {
            case .stalls: unsafe path.withCString { unsafe CNukeCore_openForReadingAndWriting($0) }
            case .events, .pipe: unsafe path.withCString { unsafe CNukeCore_openForReading($0) }
            }
        guard descriptor >= 0 else { return nil }
        if case .stalls(let trigger) = kind {
            let count = unsafe trigger.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
            guard count == trigger.count else {
                close(descriptor)
                return nil
            }
        }
        return OpenMemoryPressureSource(self, descriptor)
    }
}

/// A source under watch; whoever has it has to close it.
struct OpenMemoryPressureSource: Sendable {
    enum Answer: Equatable, Sendable {
        case pressure(MemoryPressure)
        case nothing
        /// Nothing more will come.
        case end
    }

    let descriptor: Int32
    private let source: MemoryPressureSource
    private var counters = MemoryEvents(text: "")

    fileprivate init(_ source: MemoryPressureSource, _ descriptor: Int32) {
        self.source = source
        self.descriptor = descriptor
        if source.kind == .events { counters = MemoryEvents(text: read(at: 0) ?? "") }
    }

    /// What poll(2) is to wait for.
    var events: Int16 { Int16(source.kind == .pipe ? POLLIN : POLLPRI) }

    /// What the events that poll(2) tells of mean.
    mutating func answer(to events: Int16) -> Answer {
        func has(_ event: Int32) -> Bool { Int32(events) & event != 0 }
        switch source.kind {
        case .stalls:
            if has(POLLERR) || has(POLLNVAL) { return .end }  // the cgroup is gone
            return has(POLLPRI) ? .pressure(source.pressure) : .nothing
        case .events:
            guard has(POLLPRI) else { return has(POLLNVAL) ? .end : .nothing }
            guard let text = read(at: 0) else { return .end }
            let before = counters
            counters = MemoryEvents(text: text)
            return counters.pressure(since: before).map { .pressure($0) } ?? .nothing
        case .pipe:
            if has(POLLIN), let text = read(at: nil), !text.isEmpty { return .pressure(source.pressure) }
            return has(POLLHUP) || has(POLLERR) || has(POLLNVAL) ? .end : .nothing
        }
    }

    func close() { Glibc.close(descriptor) }

    /// Up to 4 KB from an offset, or of what comes next.
    private func read(at offset: Int?) -> String? {
        // SAFETY: the calls write at most the bytes there are in the block.
        var block = [UInt8](repeating: 0, count: 4096)
        let count = unsafe block.withUnsafeMutableBytes { bytes in
            if let offset { return unsafe pread(descriptor, bytes.baseAddress, bytes.count, offset) }
            return unsafe Glibc.read(descriptor, bytes.baseAddress, bytes.count)
        }
        return count < 0 ? nil : String(decoding: block.prefix(count), as: UTF8.self)
    }
}

/// The counters of a cgroup's `memory.events`.
struct MemoryEvents: Equatable, Sendable {
    private var counters: [Substring: Int] = [:]

    init(text: String) {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2, let count = Int(words[1]) { counters[words[0]] = count }
        }
    }

    /// What it means that counters have grown: reclaim at a limit is moderate, an allocation that failed critical.
    func pressure(since before: MemoryEvents) -> MemoryPressure? {
        func hasGrown(_ name: Substring) -> Bool { counters[name, default: 0] > before.counters[name, default: 0] }
        if hasGrown("oom") || hasGrown("oom_kill") { return .critical }
        return hasGrown("high") || hasGrown("max") ? .moderate : nil
    }
}
