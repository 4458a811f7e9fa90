internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What a transfer has received so far: decides which of the heads that come is the response's, and when.
///
/// Before the final head there may be others: of interim responses (1xx) and of redirects that libcurl follows. After the
/// body there may be trailers, which are read and dropped. A pure value: no I/O, so tests drive it by hand.
struct ResponseReader {
    enum Event: Equatable {
        case more
        /// The final head is there, and was not announced yet.
        case headComplete
        /// The server breaks a rule; in words.
        case failed(String)
    }

    private enum State {
        case beforeHead, inHead
        /// The head is complete, but it is an interim response's or a redirect's.
        case afterPassingHead
        case headComplete
        case announced
    }

    /// The most that all heads of a load may take together, so that no server fills the memory with them.
    static let headLimit = 256 << 10

    private let isHead: Bool
    private let followsRedirects: Bool
    private var state = State.beforeHead
    private var headByteCount = 0
    private var status = 0
    private var headers = HTTPHeaders()
    private var pendingField: HTTPHeaders.Field?
    private var isRedirected = false
    private var declaredLength: Int64?
    /// Whether the declared length is that of the body as it is delivered.
    private var hasOwnLength = true

    /// `isHead`: the request's method is HEAD.
    init(isHead: Bool, followsRedirects: Bool) {
        self.isHead = isHead
        self.followsRedirects = followsRedirects
    }

    /// Takes a line of a head or a trailer.
    mutating func read(line: Span<UInt8>) -> Event {
        headByteCount += line.count
        guard headByteCount <= Self.headLimit else {
            return .failed("the head of the response is larger than \(Self.headLimit >> 10) KB")
        }
        var end = line.count
        while end > 0, line[end - 1] == UInt8(ascii: "\n") || line[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        let content = line.extracting(0..<end)
        switch state {
        case .beforeHead, .afterPassingHead: return readStatus(content)
        case .inHead:
            if content.isEmpty { return endHead() }
            readField(content)
            return .more
        case .headComplete, .announced:
            return Self.isStatusLine(content) ? .failed("a second response followed the first") : .more
        }
    }

    /// Whether bytes of a body may come now; nil, or what is wrong.
    ///
    /// If libcurl does not follow a redirect after all, the body is that of the head that came last.
    mutating func readBody() -> Event {
        switch state {
        case .beforeHead, .inHead: return .failed("a body came before a head")
        case .afterPassingHead, .headComplete:
            state = .headComplete
            return .headComplete
        case .announced: return .more
        }
    }

    /// The final head, if it is there and was not handed out yet.
    mutating func announce(url: URL?) -> DataResponse? {
        guard state == .headComplete else { return nil }
        state = .announced
        defer { headers = HTTPHeaders() }
        return DataResponse(
            url: url, statusCode: status, headers: headers, expectedContentLength: expectedContentLength)
    }

    /// The transfer succeeded: whatever head came last is the response's.
    mutating func end() {
        if state == .afterPassingHead { state = .headComplete }
    }

    /// Whether a head has begun and not ended.
    var isInHead: Bool { state == .inHead }

    // MARK: Head

    /// "HTTP/1.1 200 OK", "HTTP/2 200".
    private mutating func readStatus(_ line: Span<UInt8>) -> Event {
        guard Self.isStatusLine(line), let space = Self.index(of: UInt8(ascii: " "), in: line), line.count >= space + 4
        else { return .failed("the status line is malformed") }
        status = 0
        for index in (space + 1)..<(space + 4) {
            let digit = line[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return .failed("the status line is malformed") }
            status = status * 10 + Int(digit)
        }
        headers = HTTPHeaders()
        isRedirected = false
        declaredLength = nil
        hasOwnLength = true
        state = .inHead
        return .more
    }

    private mutating func readField(_ line: Span<UInt8>) {
        if Self.isBlank(line[0]) {
            // A line that goes on where the last one ended (obs-fold).
            if let field = pendingField {
                let value = field.value + " " + Self.text(Self.trimmed(line))
                pendingField = HTTPHeaders.Field(name: field.name, value: value)
            }
            return
        }
        endField()
        guard let colon = Self.index(of: UInt8(ascii: ":"), in: line), colon > 0 else { return }
        let name = Self.text(Self.trimmed(line.extracting(0..<colon)))
        let value = Self.text(Self.trimmed(line.extracting((colon + 1)..<line.count)))
        pendingField = HTTPHeaders.Field(name: name, value: value)
    }

    private mutating func endField() {
        guard let field = pendingField else { return }
        pendingField = nil
        headers.add(field.value, for: field.name)
        // By their lengths, lest every name be put into lower case.
        switch field.name.utf8.count {
        case 8 where field.name.lowercased() == "location": isRedirected = isRedirected || !field.value.isEmpty
        case 14 where field.name.lowercased() == "content-length":
            let length = Self.length(field.value)
            declaredLength = declaredLength == nil || declaredLength == length ? length : -1
        case 16 where field.name.lowercased() == "content-encoding":
            hasOwnLength = hasOwnLength && (field.value.isEmpty || field.value.lowercased() == "identity")
        case 17 where field.name.lowercased() == "transfer-encoding": hasOwnLength = false
        default: break
        }
    }

    private mutating func endHead() -> Event {
        endField()
        // 101 ends HTTP on the connection, so nothing can follow it.
        let isInterim = status < 200 && status != 101
        let isFollowed = (300..<400).contains(status) && followsRedirects && isRedirected
        state = isInterim || isFollowed ? .afterPassingHead : .headComplete
        return state == .headComplete ? .headComplete : .more
    }

    /// What will be delivered, so 0 where there is no body and -1 where the length is of something else.
    private var expectedContentLength: Int64 {
        if isHead || status < 200 || status == 204 || status == 304 { return 0 }
        return hasOwnLength ? declaredLength ?? -1 : -1
    }

    /// Digits only; -1 for anything else, and for what no body can have.
    private static func length(_ text: String) -> Int64 {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int64(text) ?? -1 : -1
    }

    // MARK: Bytes

    private static func isStatusLine(_ line: Span<UInt8>) -> Bool {
        line.count >= 5 && line[0] == UInt8(ascii: "H") && line[1] == UInt8(ascii: "T") && line[2] == UInt8(ascii: "T")
            && line[3] == UInt8(ascii: "P") && line[4] == UInt8(ascii: "/")
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    private static func index(of byte: UInt8, in line: Span<UInt8>) -> Int? { line.indices.first { line[$0] == byte } }

    @_lifetime(copy line)
    private static func trimmed(_ line: Span<UInt8>) -> Span<UInt8> {
        var (start, end) = (0, line.count)
        while start < end, isBlank(line[start]) { start += 1 }
        while end > start, isBlank(line[end - 1]) { end -= 1 }
        return line.extracting(start..<end)
    }

    /// UTF-8 where it is that, else ISO 8859-1, in which every byte is a character.
    private static func text(_ bytes: Span<UInt8>) -> String {
        if let text = try? UTF8Span(validating: bytes) { return String(copying: text) }
        var scalars = String.UnicodeScalarView()
        for index in bytes.indices { scalars.append(Unicode.Scalar(bytes[index])) }
        return String(scalars)
    }
}
