/// The form of a URL in keys: scheme and host in lower case, the host in Unicode, everything else as it is.
///
/// FoundationEssentials and Foundation spell an international host differently (percent-encoded UTF-8 and Punycode); both
/// become the same text here.
enum URLIdentity {
    static func normalized(_ url: String) -> String { isNormalized(url) ? url : rewritten(url) }

    /// Whether scheme and host are in lower case and the host is not encoded, as in nearly every URL: one pass over them.
    private static func isNormalized(_ url: String) -> Bool {
        unsafe url.utf8.withContiguousStorageIfAvailable { bytes in
            // SAFETY: every index is below the count.
            var index = 0
            let count = bytes.count
            var slashes = 0
            var run = 0  // how far "xn--" has matched
            while index < count {
                let byte = unsafe bytes[index]
                if byte >= UInt8(ascii: "A"), byte <= UInt8(ascii: "Z") { return false }
                if byte == UInt8(ascii: "%") || byte == UInt8(ascii: "@") { return false }
                if byte == UInt8(ascii: "/") {
                    slashes += 1
                    if slashes == 3 { return true }
                } else if byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") {
                    return true
                }
                run =
                    byte == UInt8(ascii: "-")
                    ? (run == 2 || run == 3 ? run + 1 : 0) : byte == UInt8(ascii: "n") && run == 1 ? 2 : 0
                if byte == UInt8(ascii: "x") { run = 1 }
                if run == 4 { return false }
                index += 1
            }
            return true
        } ?? false
    }

    private static func rewritten(_ url: String) -> String {
        let bytes = url.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return url }
        let afterScheme = bytes[bytes.index(after: colon)...]
        guard afterScheme.starts(with: "//".utf8) else {
            // A data: URL, say: there is no host.
            return lowercased(bytes[..<colon]) + text(bytes[colon...])
        }
        let authorityStart = afterScheme.index(afterScheme.startIndex, offsetBy: 2)
        let authorityEnd =
            bytes[authorityStart...].firstIndex {
                $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
            } ?? bytes.endIndex
        let authority = bytes[authorityStart..<authorityEnd]
        let hostStart = authority.lastIndex(of: UInt8(ascii: "@")).map { bytes.index(after: $0) } ?? authorityStart
        let host = bytes[hostStart..<authorityEnd]
        return lowercased(bytes[..<colon]) + text(bytes[colon..<hostStart]) + unicodeHost(host)
            + text(bytes[authorityEnd...])
    }

    private static func text(_ bytes: Substring.UTF8View) -> String { String(Substring(bytes)) }

    private static func lowercased(_ bytes: Substring.UTF8View) -> String { text(bytes).lowercased() }

    private static func unicodeHost(_ host: Substring.UTF8View) -> String {
        let decoded = host.contains(UInt8(ascii: "%")) ? percentDecoded(host) ?? text(host) : text(host)
        let labels = decoded.lowercased().split(separator: ".", omittingEmptySubsequences: false)
        return labels.map { label in
            label.hasPrefix("xn--") ? Punycode.decode(label.dropFirst(4)) ?? String(label) : String(label)
        }.joined(separator: ".")
    }

    /// Nil where the escapes are not UTF-8, or hide what would end the host: `a%2Fb` is not the host `a` and the path `/b`.
    private static func percentDecoded(_ host: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var rest = host.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(hexValue), let low = rest.next().flatMap(hexValue) else { return nil }
            let escaped = high << 4 | low
            guard escaped > 0x20, !"/?#@:%[]".utf8.contains(escaped) else { return nil }
            bytes.append(escaped)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// Decodes the labels of international host names (RFC 3492).
enum Punycode {
    /// The Unicode text of a label without its `xn--`; nil if it is not well-formed.
    ///
    /// Nor is what no encoder makes: capitals, and text that looks encoded once more (RFC 5891, 5.4).
    static func decode(_ label: Substring) -> String? {
        let (base, tMin, tMax, initialBias) = (36, 1, 26, 72)
        var output: [Unicode.Scalar] = []
        var input = label.utf8[...]
        if let dash = input.lastIndex(of: UInt8(ascii: "-")) {
            guard input[..<dash].allSatisfy({ $0 < 0x80 }) else { return nil }
            output = input[..<dash].map { Unicode.Scalar($0) }
            input = input[input.index(after: dash)...]
        }
        var (n, i, bias) = (128, 0, initialBias)
        while !input.isEmpty {
            let start = i
            var weight = 1
            var k = base
            while true {
                guard let digit = input.popFirst().flatMap(digitValue) else { return nil }
                let (product, overflow) = digit.multipliedReportingOverflow(by: weight)
                guard !overflow, i <= Int.max - product else { return nil }
                i += product
                let t = min(max(k - bias, tMin), tMax)
                if digit < t { break }
                guard weight <= Int.max / (base - t) else { return nil }
                weight *= base - t
                k += base
            }
            let count = output.count + 1
            bias = adapt(i - start, count: count, isFirst: start == 0)
            n += i / count
            i %= count
            // What is basic or a control character has no business being encoded.
            guard n >= 0xA0, n <= 0x10FFFF, let scalar = Unicode.Scalar(UInt32(n)) else { return nil }
            output.insert(scalar, at: i)
            i += 1
        }
        let text = String(String.UnicodeScalarView(output))
        return text == text.lowercased() && !text.hasPrefix("xn--") ? text : nil
    }

    private static func adapt(_ delta: Int, count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var k = 0
        while delta > 455 {
            delta /= 35
            k += 36
        }
        return k + 36 * delta / (delta + 38)
    }

    private static func digitValue(_ byte: UInt8) -> Int? {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(byte - UInt8(ascii: "a"))
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte - UInt8(ascii: "0")) + 26
        default: nil
        }
    }
}
