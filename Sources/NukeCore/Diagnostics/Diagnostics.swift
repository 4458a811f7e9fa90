internal import Glibc
internal import Synchronization

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What the package tells of itself: warnings always, and where it is asked for, every task and every step.
///
/// With the environment's `NUKE_DIAGNOSTICS_ENABLED=1` every task that ends is told, which the default sink writes to
/// standard error as a line of JSON.
public enum Diagnostics {
    /// How much an event matters.
    public enum Level: Int, Sendable, Hashable, Comparable {
        /// A step of a load.
        case trace
        /// The end of a task.
        case info
        /// Something went wrong that was put up with.
        case warning
        /// Something went wrong that needs somebody.
        case error

        /// Whether `a` matters less.
        public static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
    }

    /// Something that happened.
    public struct Event: Sendable {
        /// A value that belongs to an event.
        public enum Value: Sendable, Hashable {
            /// A text.
            case text(String)
            /// A whole number.
            case integer(Int)
            /// A number.
            case number(Double)
        }

        /// How much it matters.
        public let level: Level
        /// What happened, such as "task" or "decode".
        public let name: String
        /// What belongs to it, in order.
        public let fields: [(name: String, value: Value)]

        /// Creates an event.
        public init(_ level: Level, _ name: String, fields: [(name: String, value: Value)] = []) {
            self.level = level
            self.name = name
            self.fields = fields
        }

        /// The value of a field.
        public subscript(name: String) -> Value? { fields.first { $0.name == name }?.value }

        /// The event as an object of JSON on one line; numbers have one decimal.
        public var json: String {
            var line = JSONLine()
            line.add("event", .text(name))
            for (name, value) in fields {
                switch value {
                case .text(let text): line.add(name, .text(text))
                case .integer(let number): line.add(name, .integer(number))
                case .number(let number): line.add(name, .number(number))
                }
            }
            return line.text
        }
    }

    private struct Flags {
        static let tasks = 1
        static let steps = 2
    }

    private static let flags = Atomic<Int>(isEnabledByEnvironment ? Flags.tasks : 0)
    /// Asks for the one variable: Foundation's dictionary of all of them takes half a megabyte of code and data.
    private static var isEnabledByEnvironment: Bool {
        // SAFETY: getenv's text is copied at once, before anything can change the environment.
        unsafe getenv("NUKE_DIAGNOSTICS_ENABLED").map { unsafe String(cString: $0) } == "1"
    }

    private static let currentSink = Lock<@Sendable (Event) -> Void>({ standardSink($0) })

    /// What events go to; by default warnings and errors go to standard error as text, and what else is told as JSON.
    ///
    /// Settable at any time. Called on any thread; it must be quick, and must not load images.
    public static var sink: @Sendable (Event) -> Void {
        get { currentSink.withLock { $0 } }
        set { currentSink.withLock { $0 = newValue } }
    }

    /// Whether every task that ends is told; false by default, unless the environment asks for it.
    ///
    /// Settable at any time, and counts from then on. What loads give is the same either way.
    public static var isReportingTasks: Bool {
        get { flags.load(ordering: .relaxed) & Flags.tasks != 0 }
        set { set(Flags.tasks, newValue) }
    }

    /// Whether every step of every load is told when it is over; false by default.
    ///
    /// Settable at any time, and counts from then on. What loads give is the same either way.
    public static var isTracingEnabled: Bool {
        get { flags.load(ordering: .relaxed) & Flags.steps != 0 }
        set { set(Flags.steps, newValue) }
    }

    /// Tells an event.
    public static func send(_ event: Event) { sink(event) }

    /// What the sink is by default.
    public static func standardSink(_ event: Event) {
        guard event.level >= .warning else { return StandardError.write(event.json + "\n") }
        let fields = event.fields.map { field in
            switch field.value {
            case .text(let text): "\(field.name): \(text)"
            case .integer(let number): "\(field.name): \(number)"
            case .number(let number): "\(field.name): \(number)"
            }
        }
        StandardError.write("nuke: \(([event.name] + fields).joined(separator: ", "))\n")
    }

    /// A number of bytes for people, such as "1.5 MiB".
    public static func formatted(byteCount: some BinaryInteger) -> String {
        let bytes = Int64(clamping: byteCount)
        var (value, unit) = (Double(bytes), 0)
        while value.magnitude >= 1024, unit < 4 { (value, unit) = (value / 1024, unit + 1) }
        if unit == 0 { return bytes == 1 ? "1 byte" : "\(bytes) bytes" }
        let rounded = (value * 10).rounded() / 10
        let text = rounded == rounded.rounded() ? "\(Int64(rounded))" : "\(rounded)"
        return text + " " + ["bytes", "KiB", "MiB", "GiB", "TiB"][unit]
    }

    private static func set(_ flag: Int, _ isSet: Bool) {
        if isSet {
            flags.bitwiseOr(flag, ordering: .relaxed)
        } else {
            flags.bitwiseAnd(~flag, ordering: .relaxed)
        }
    }
}
