/// The Linux distribution that the program runs on, as far as messages that name packages need it.
public enum HostDistribution {
    /// The name of a package on this distribution: Ubuntu's where that is what runs here, else Debian's.
    public static func package(debian: String, ubuntu: String) -> String { isUbuntu ? ubuntu : debian }

    /// Whether /etc/os-release says Ubuntu, or something made from it.
    private static let isUbuntu: Bool = {
        guard let bytes = try? FileReader.contents(of: "/etc/os-release", limit: 64 << 10) else { return false }
        return names(in: String(decoding: bytes, as: UTF8.self)).contains("ubuntu")
    }()

    /// The values of ID and ID_LIKE (os-release(5)).
    static func names(in text: String) -> [String] {
        text.split(separator: "\n").flatMap { line -> [String] in
            guard let equals = line.firstIndex(of: "="), ["ID", "ID_LIKE"].contains(line[..<equals]) else { return [] }
            return line[line.index(after: equals)...].split { " \"'".contains($0) }.map(String.init)
        }
    }
}
