import Glibc

/// The sanitizer that the tests may have been built with.
public enum AddressSanitizer {
    /// Whether it watches this process: its shadow memory passes any limit that a process is given.
    public static let isActive: Bool = {
        let program = dlopen(nil, RTLD_NOW)
        defer { if let program { dlclose(program) } }
        return program.map { dlsym($0, "__asan_init") != nil } ?? false
    }()
}
