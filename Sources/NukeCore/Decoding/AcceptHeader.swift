/// The value of `Accept` (RFC 9110, 12.5.1) that stands for a list of formats.
enum AcceptHeader {
    /// Nil if none of the formats can be decoded: then there is nothing to prefer.
    ///
    /// - Parameter formats: In the order in which they are asked, which decides among those of one weight.
    static func value(for formats: [ImageFormat]) -> String? {
        let decodable = formats.filter { $0.makeDecoder != nil && !$0.mimeTypes.isEmpty }
        if decodable.isEmpty { return nil }
        var known: Set<String> = []
        var ranges: [(type: String, weight: Int)] = []
        for format in decodable {
            for type in format.mimeTypes.map({ $0.lowercased() }) where isMediaType(type) && known.insert(type).inserted
            {
                ranges.append((type, weight(of: format)))
            }
        }
        // The sort is stable in effect: the place decides where weights are equal.
        let sorted = ranges.enumerated().sorted { (-$0.element.weight, $0.offset) < (-$1.element.weight, $1.offset) }
        let parts = sorted.map { text($0.element.type, $0.element.weight) }
        return (parts + [text("image/*", anyImage), text("*/*", anything)]).joined(separator: ", ")
    }

    // Servers may answer with whatever they have: bytes tell what it is, and formats are registered by closures, too.
    private static let anyImage = 5
    private static let anything = 1

    /// In tenths: what saves most bytes comes first, and what a program brings itself, as that was registered on purpose.
    private static func weight(of format: ImageFormat) -> Int {
        switch format.type {
        case .jpeg, .png, .heic, "public.heics", .svg: 9
        case .gif, .tiff, .jpeg2000: 8
        case .bmp, .ico: 7
        case .mp4, .m4v, .mov, .webm, .mkv: 6
        default: 10
        }
    }

    private static func text(_ type: String, _ weight: Int) -> String {
        weight == 10 ? type : "\(type);q=0.\(weight)"
    }

    /// Whether it can stand in a header field: what is registered is a program's own text.
    private static func isMediaType(_ text: String) -> Bool {
        text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).count == 2
            && text.utf8.allSatisfy { byte in
                byte > 0x20 && byte < 0x7F && !"\",;=()<>@:\\?[]{}".utf8.contains(byte)
            }
    }
}
