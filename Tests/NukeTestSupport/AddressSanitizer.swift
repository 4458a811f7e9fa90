internal import CNukeCore

/// The sanitizer that the tests may have been built with.
public enum AddressSanitizer {
    /// Whether it watches this process: its shadow memory passes any limit that a process is given.
    public static var isActive: Bool { CNukeCore_isAddressSanitized() != 0 }
}
