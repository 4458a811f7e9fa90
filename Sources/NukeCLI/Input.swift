import FoundationEssentials
import NukeCore

/// One INPUT: a URL, a path, or the bytes of standard input.
struct Input: Sendable {
    /// As it was written.
    let text: String
    private let resource: Resource

    private enum Resource: Sendable {
        case url(URL?)
        case standardInput
    }

    init(_ text: String) {
        self.text = text
        if text == "/dev/stdin" {
            resource = .standardInput
        } else if Self.isURL(text) {
            resource = .url(URL(escaping: text))
        } else {
            resource = .url(URL(filePath: text, directoryHint: .notDirectory).absoluteURL)
        }
    }

    /// A scheme (RFC 3986, 3.1) of at least two letters and a colon; `http:` and others need their `//`.
    private static func isURL(_ text: String) -> Bool {
        let scheme = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        guard scheme.count >= 2, scheme.first?.isLetter == true, text.dropFirst(scheme.count).first == ":" else {
            return false
        }
        let rest = text.dropFirst(scheme.count + 1)
        return rest.hasPrefix("//") || ["data", "file"].contains(scheme.lowercased())
    }

    /// Whether loading it needs the network.
    var isRemote: Bool {
        guard case .url(let url?) = resource, let scheme = url.scheme?.lowercased() else { return false }
        return scheme != "file" && scheme != "data"
    }

    /// The request for its image.
    func request(
        processors: [any ImageProcessing] = [], options: ImageRequest.Options = []
    ) -> ImageRequest {
        switch resource {
        case .url(let url): ImageRequest(url: url, processors: processors, options: options)
        case .standardInput:
            ImageRequest(
                id: "standard input", data: { try await CodecThreads.disk.run { try StandardInput.read() } },
                processors: processors, options: options)
        }
    }

    /// The name of a file made from it, without an extension; never empty and without a slash.
    var stem: String {
        guard case .url(let url?) = resource, url.scheme?.lowercased() != "data" else {
            if case .standardInput = resource { return "stdin" }
            return "image"
        }
        let name = url.path(percentEncoded: false).split(separator: "/").last.map(String.init) ?? ""
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        let stem = dot == name.startIndex ? Substring(name) : name[..<dot]
        let safe = stem.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }
        let text = String(String.UnicodeScalarView(safe))
        // File names may have 255 bytes; what is added has room within the rest.
        let short = String(decoding: Array(text.utf8.prefix(200)), as: UTF8.self)
        return short.isEmpty || short == "." || short == ".." ? "image" : short
    }

    /// The inputs of a command line: its operands, then the lines of `--from-file`.
    static func all(of arguments: Arguments) throws(UsageError) -> [Input] {
        var texts = arguments.operands
        if let list = arguments[.fromFile] {
            let lines: [String]
            do { lines = try StandardInput.lines(of: list) } catch {
                throw UsageError(message: "--from-file: \(error)")
            }
            texts += lines
        }
        guard !texts.isEmpty else { throw UsageError(message: "there is no INPUT") }
        return texts.map { Input($0) }
    }
}
