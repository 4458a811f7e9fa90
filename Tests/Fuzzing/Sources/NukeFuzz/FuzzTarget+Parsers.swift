import FoundationEssentials

@testable import NukeCore
@testable import NukeCurlLoader
@testable import NukeDiskCache

extension FuzzTarget {
    static let parsers = [
        FuzzTarget(
            name: "sniff", seeds: ["broken", "gif", "heif", "avif", "svg", "video"],
            sources: "NukeCore/Decoding/AssetType"
        ) {
            _ = AssetType($0)
        },
        FuzzTarget(name: "exif", seeds: ["exif"], sources: "NukeCore/Decoding/EXIF", run: readEXIF),
        FuzzTarget(name: "icc", seeds: ["icc"], sources: "NukeCore/Color/ICC", run: convertColors),
        FuzzTarget(name: "data-url", seeds: ["text"], sources: "NukeCore/Loading/DataURL") {
            _ = try? DataURL.parse("data:" + String(decoding: $0, as: UTF8.self))
        },
        FuzzTarget(name: "url", seeds: ["text"], sources: "NukeCore/Identity/URLIdentity") {
            let text = "http://" + String(decoding: $0, as: UTF8.self)
            let once = URLIdentity.normalized(text)
            // What is normal stays as it is, or equal URLs would have two keys.
            precondition(URLIdentity.normalized(once) == once, "\(text) is not normal after one turn")
        },
        FuzzTarget(name: "cache-entry", seeds: ["entry"], sources: "NukeDiskCache/EntryFormat") {
            let key = Array("https://example.com/image".utf8)
            let bytes = Array($0)
            if EntryFormat.defect(of: bytes.span.bytes, key: key) == nil {
                precondition(bytes.count >= EntryFormat.dataOffset(keyLength: key.count))
            }
            // A file of ours with these data has no defect.
            let file = EntryFormat.header(key: bytes, data: $0) + bytes
            precondition(EntryFormat.defect(of: file.span.bytes, key: bytes) == nil)
        },
        FuzzTarget(name: "http-head", seeds: ["head"], sources: "NukeCurlLoader/ResponseReader", run: readHead),
    ]

    private static func readEXIF(_ data: Data) {
        var bytes = Array(data)
        _ = EXIFOrientation.read(from: bytes.span.bytes)
        _ = EXIFDensity.read(from: bytes.span.bytes)
        if let range = EXIFThumbnail.range(in: bytes.span.bytes) {
            precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "a thumbnail outside")
        }
        _ = ImageMetadata(exif: data, orientation: .up)
        let count = bytes.count
        EXIFReader.setOrientation(.right, in: &bytes)
        EXIFReader.removeThumbnail(from: &bytes)
        precondition(bytes.count <= count, "editing makes nothing longer")
    }

    private static func convertColors(_ data: Data) {
        guard let profile = ICCProfile(data), let transform = ColorTransform(profile) else { return }
        let color = transform.convert(SIMD3(0.2, 0.5, 0.9))
        precondition((0...1).contains(color.x) && (0...1).contains(color.y) && (0...1).contains(color.z))
        var pixels: [UInt8] = []
        for value: UInt8 in 0...255 { pixels += [value, 255 - value, value / 2, 255] }
        var elements = pixels.mutableSpan
        var span = elements.mutableBytes
        if profile.colorants != nil {
            transform.convertRGBA8(&span, isOpaque: true)
        } else {
            transform.convertGray8(&span)
        }
    }

    private static func readHead(_ data: Data) {
        var reader = ResponseReader(isHead: false, followsRedirects: data.first.map { $0 & 1 == 0 } ?? true)
        var line: [UInt8] = []
        for byte in data.dropFirst() {
            line.append(byte)
            guard byte == UInt8(ascii: "\n") else { continue }
            _ = reader.read(line: line.span)
            line = []
        }
        _ = reader.readBody()
        _ = reader.announce(url: nil)
        reader.end()
    }
}
