import NukeCore
import Testing

@testable import NukeCurlLoader

@Suite("Curl errors", .timeLimit(.minutes(5)))
struct CurlErrorTests {
    @Test(
        "each outcome has its code",
        arguments: [
            (CurlOutcome.badURL, DataLoadingError.Code.badURL), (.cannotResolveHost, .cannotResolveHost),
            (.cannotConnect, .cannotConnect), (.timedOut, .timedOut), (.tooManyRedirects, .tooManyRedirects),
            (.secureConnectionFailed, .secureConnectionFailed), (.connectionLost, .connectionLost),
            (.truncatedBody, .truncatedBody), (.badResponse, .badServerResponse), (.outOfMemory, .other),
            (.other, .other), (.aborted, .other),
        ])
    func codes(outcome: CurlOutcome, code: DataLoadingError.Code) {
        #expect(DataLoadingError.curl(outcome, message: "a", url: "http://h/").code == code)
    }

    @Test("an unsupported protocol is the scheme's fault, or that of a server that does not speak HTTP")
    func unsupportedProtocol() {
        func code(_ message: String, _ url: String, isRedirected: Bool) -> DataLoadingError.Code {
            DataLoadingError.curl(.unsupportedProtocol, message: message, url: url, isRedirected: isRedirected).code
        }
        #expect(code("a", "ftp://h/", isRedirected: true) == .unsupportedScheme)
        #expect(code("a", "http://h/", isRedirected: true) == .unsupportedScheme)
        #expect(code("a", "http://h/", isRedirected: false) == .badServerResponse)
        #expect(code("Received HTTP/0.9 when not allowed", "http://h/", isRedirected: true) == .badServerResponse)
    }

    @Test("the reason names the host once, holds no password and has no full stop")
    func reasons() {
        let url = "http://user:secret@a.example/"
        #expect(DataLoadingError.curl(.timedOut, message: "Timed out.", url: url).reason == "a.example: Timed out")
        let named = "Could not resolve host: a.example"
        #expect(DataLoadingError.curl(.cannotResolveHost, message: named, url: url).reason == named)
    }

    @Test("a missing library names the package to install")
    func missingLibrary() {
        let errors = [DataLoadingError.curlNotInstalled, .curlTooOld, .curlHeadersMissing]
        #expect(errors.allSatisfy { $0.code == .missingLibrary })
        #expect(errors.map { $0.reason.contains("libcurl4") } == [true, true, true])
        #expect(DataLoadingError.curlHeadersMissing.reason.contains("libcurl4-openssl-dev"))
    }

    @Test("the library in use is told")
    func libraryVersion() throws {
        let version = try #require(CurlLoader.libraryVersion)
        #expect(version.hasPrefix("libcurl "))
        #expect(version.dropFirst(8).split(separator: ".").count >= 2)
    }
}
