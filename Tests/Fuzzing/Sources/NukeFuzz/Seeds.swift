import FoundationEssentials
import NukeVideo

@testable import NukeCore
@testable import NukeDiskCache

/// What fuzzing begins with: small files of the corpus, and parts of them.
struct Seeds {
    /// Larger files make each run slow, and teach no more.
    static let fileLimit = 32 << 10

    let corpus: String

    /// The inputs of a target.
    func inputs(of target: FuzzTarget) -> [Data] {
        target.seeds.flatMap { seed in
            switch seed {
            case "exif": files(in: ["jpeg"]).compactMap { part(of: $0, behind: "Exif\0\0", length: 4096) }
            case "icc": files(in: ["jpeg"]).compactMap { part(of: $0, behind: "ICC_PROFILE\0\u{1}\u{1}", length: 4096) }
            case "text": Self.texts
            case "head": Self.heads
            case "entry": [entry]
            case "bmp": Bitmaps.all.map { Bitmaps.header($0) + $0.info + $0.pixels }
            case "ico": Bitmaps.all.map(Bitmaps.icon)
            case "sequence":
                files(in: ["avif", "heif"]).filter { file in
                    [ImageFormat.avifSequence, .heicSequence].contains { $0.matches(file, isCompleted: true) == .yes }
                }
            default: files(in: [seed]).filter { $0.count <= Self.fileLimit }
            }
        }
    }

    private func files(in folders: [String]) -> [Data] {
        folders.flatMap { folder in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(corpus)/\(folder)")) ?? []
            return names.sorted().compactMap { FileManager.default.contents(atPath: "\(corpus)/\(folder)/\($0)") }
        }
    }

    private func part(of file: Data, behind mark: String, length: Int) -> Data? {
        file.prefix(1 << 16).firstRange(of: Data(mark.utf8)).map { Data(file[$0.upperBound...].prefix(length)) }
    }

    private var entry: Data {
        let data = Data("data of an entry".utf8)
        return Data(EntryFormat.header(key: Array("https://example.com/image".utf8), data: data)) + data
    }

    private static let texts = [
        ",plain", "image/png;base64,iVBORw0KGgo=", "text/plain;charset=utf-8,%C3%A4%20", ";base64,YQ",
        "EXAMPLE.com:80/a%2fb?q=ä#f", "xn--mnchen-3ya.de/", "user@[::1]:8080/../x", "bücher.example/%zz",
    ].map { Data($0.utf8) }

    private static let heads = [
        "0HTTP/1.1 200 OK\r\nContent-Length: 10\r\nContent-Type: image/png\r\n\r\n",
        "1HTTP/1.1 301 Moved\r\nLocation: /next\r\n\r\nHTTP/2 206\r\ncontent-range: bytes 0-1/2\r\netag: \"a\"\r\n folded\r\n\r\n",
        "0HTTP/1.0 100 Continue\r\n\r\nHTTP/1.0 304 Not Modified\r\nX: ä\r\n\r\n",
    ].map { Data($0.utf8) }
}
