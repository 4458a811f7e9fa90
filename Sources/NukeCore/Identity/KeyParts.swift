/// Joins the parts of a key into one string such that no two different lists of parts give the same one.
enum KeyParts {
    private static let mark = "parts:"

    /// A single part stands for itself; several are written with their lengths in bytes before them.
    static func join(_ parts: [String]) -> String {
        if parts.count == 1, !parts[0].hasPrefix(mark) { return parts[0] }
        return mark + parts.map { "\($0.utf8.count):\($0)" }.joined()
    }
}
