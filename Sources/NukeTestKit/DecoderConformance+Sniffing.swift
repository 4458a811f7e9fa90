internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension DecoderConformance {
    /// The sniff knows the samples, whole, as slices and growing, and nothing else.
    func checkSniffing() -> [ConformanceViolation] {
        let registry = ImageDecoderRegistry()
        registry.register(format)
        var found: [ConformanceViolation] = []
        for sample in samples {
            if registry.format(of: sample.data) == nil {
                found.append(violation("sniff", sample, "is not taken for \(format.name)"))
            }
            let slice = (Data([0, 1, 2]) + sample.data).dropFirst(3)
            if registry.format(of: slice) == nil {
                found.append(violation("sniff", sample, "is not taken as a slice that does not start at index 0"))
            }
            var wasKnown = false
            for count in Self.prefixCounts where count < sample.data.count {
                let isKnown = registry.decoder(for: context(sample.data.prefix(count), isCompleted: false)) != nil
                if wasKnown, !isKnown {
                    found.append(violation("sniff", sample, "known by fewer bytes, unknown by the first \(count)"))
                }
                wasKnown = wasKnown || isKnown
            }
        }
        var random = Random(seed: seed)
        for (name, data) in Self.foreignData(&random) where !isOwn(data) && registry.format(of: data) != nil {
            found.append(ConformanceViolation(check: "sniff", message: "takes \(name) for \(format.name)"))
        }
        return found
    }

    /// Data of other kinds, given to the decoder all the same, ends in a typed error.
    func checkForeignData() -> [ConformanceViolation] {
        var random = Random(seed: seed)
        return Self.foreignData(&random).filter { !isOwn($0.data) }.flatMap { name, data in
            var found: [String] = []
            let outcome = decode(data)
            if outcome.image != nil { found.append("\(name) \(outcome)") }
            if let complaint = complaint(about: outcome) { found.append("\(name) \(complaint)") }
            if let complaint = headerComplaint(data) { found.append("\(name): \(complaint)") }
            return found.map { ConformanceViolation(check: "foreign", message: $0) }
        }
    }

    private static let prefixCounts = [1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 256, 1024, 4096, 16_384]

    private func isOwn(_ data: Data) -> Bool {
        guard let type = AssetType(data) else { return false }
        return type == format.type || relatedTypes.contains(type)
    }

    /// The first bytes of files of many kinds, and of none.
    private static func foreignData(_ random: inout Random) -> [(name: String, data: Data)] {
        let padding = Data(count: 64)
        func text(_ name: String, _ text: String) -> (name: String, data: Data) { (name, Data(text.utf8) + padding) }
        func bytes(_ name: String, _ bytes: [UInt8]) -> (name: String, data: Data) { (name, Data(bytes) + padding) }
        let signatures = [
            bytes("JPEG", [0xFF, 0xD8, 0xFF, 0xE0]),
            bytes("PNG", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
            text("GIF", "GIF89a"), text("WebP", "RIFF\u{1}\u{1}\u{1}\u{1}WEBPVP8 "),
            text("HEIC", "\0\0\0\u{18}ftypheic"), text("AVIF", "\0\0\0\u{18}ftypavif"),
            text("MP4", "\0\0\0\u{18}ftypisom"), text("M4V", "\0\0\0\u{18}ftypM4V "),
            text("QuickTime", "\0\0\0\u{18}ftypqt  "),
            bytes("WebM", [0x1A, 0x45, 0xDF, 0xA3, 0x87, 0x42, 0x82, 0x84] + "webm".utf8),
            bytes("Matroska", [0x1A, 0x45, 0xDF, 0xA3, 0x8B, 0x42, 0x82, 0x88] + "matroska".utf8),
            text("SVG", "<svg xmlns=\"http://www.w3.org/2000/svg\">"),
            bytes("an icon", [0, 0, 1, 0, 1, 0]), text("a Windows bitmap", "BM"),
            bytes("TIFF", [0x49, 0x49, 0x2A, 0]), bytes("big-endian TIFF", [0x4D, 0x4D, 0, 0x2A]),
            bytes("JPEG 2000", [0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A]),
            bytes("JPEG XL", [0xFF, 0x0A]), text("WAVE audio", "RIFF\u{1}\u{1}\u{1}\u{1}WAVE"),
            text("PDF", "%PDF-1.7\n"), bytes("ZIP", [0x50, 0x4B, 3, 4]), text("HTML", "<!DOCTYPE html><html>"),
            text("JSON", "{\"error\": \"not found\"}"), ("zeros", padding), ("no bytes", Data()),
        ]
        let noise = (0..<64).map { index in
            ("random bytes \(index)", Data((0..<64).map { _ in UInt8.random(in: 0...255, using: &random) }))
        }
        return signatures + noise
    }
}
