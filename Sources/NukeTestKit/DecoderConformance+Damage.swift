internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension DecoderConformance {
    /// A sample cut short at many places, with what the decoder made of each before it had seen a whole file.
    struct Cuts {
        let sample: Sample
        let first: [(count: Int, outcome: Outcome)]

        init(of sample: Sample, suite: DecoderConformance) {
            let total = sample.data.count
            let spread = (1...max(1, suite.cutCount)).map { total * $0 / (suite.cutCount + 1) }
            let counts = Set(Array(0..<32) + spread + (1...4).map { total - $0 }).filter { $0 >= 0 && $0 < total }
            self.sample = sample
            first = counts.sorted().map { ($0, suite.decode(sample.data.prefix($0))) }
        }
    }

    /// Cut short, a file gives a typed error or a picture of the same size that owes nothing to files decoded before.
    func checkCuts(_ cuts: Cuts, among decoded: [Decoded]) -> [ConformanceViolation] {
        guard let whole = decoded.first(where: { $0.sample.name == cuts.sample.name }) else { return [] }
        let other = decoded.first { !$0.image.hasSamePixels(as: whole.image) } ?? whole
        var found: [ConformanceViolation] = []
        for (count, outcome) in cuts.first {
            let place = "cut after \(count) of \(cuts.sample.data.count) bytes"
            if let complaint = complaint(about: outcome) ?? headerComplaint(cuts.sample.data.prefix(count)) {
                found.append(violation("truncation", cuts.sample, "\(place), it \(complaint)"))
            }
            guard let image = outcome.image else { continue }
            if image.size != whole.image.size {
                found.append(violation("truncation", cuts.sample, "\(place), it has another size: \(image.size)"))
            }
            let data = cuts.sample.data.prefix(count)
            let isSame = [whole, other].allSatisfy { previous in
                soilMemory(like: image, after: previous)
                return decode(data).image?.hasSamePixels(as: image) ?? false
            }
            if !isSame {
                found.append(violation("truncation", cuts.sample, "\(place), it shows what was decoded before"))
            }
        }
        return found
    }

    /// Decodes a whole file and leaves its pixels and others behind in freed memory.
    private func soilMemory(like image: Bitmap, after previous: Decoded) {
        for value in [UInt8(0x5A), 0xA5] {
            guard var buffer = PixelBuffer(width: image.width, height: image.height, format: image.format) else {
                continue
            }
            buffer.withBytes { bytes in
                // SAFETY: the bytes are those of the span, which lasts as long as the closure.
                unsafe bytes.withUnsafeMutableBytes { bytes in
                    _ = unsafe bytes.initializeMemory(as: UInt8.self, repeating: value)
                }
            }
        }
        _ = decode(previous.sample.data)
    }

    /// Damaged, a file gives a typed error or a picture within the limits.
    func checkMutations(_ item: Decoded) -> [ConformanceViolation] {
        var limits = ImageLimits()
        limits.pixelCount = max(1 << 20, item.image.width * item.image.height * 2)
        limits.workingSetBytes = 256 << 20
        limits.seconds = 10
        var random = Random(seed: seed)
        var found: [ConformanceViolation] = []
        for number in 0..<mutationCount {
            let data = Self.mutated(item.sample.data, &random)
            let outcome = decode(data) { $0.limits = limits }
            if let complaint = complaint(about: outcome) ?? headerComplaint(data) {
                found.append(violation("damage", item.sample, "damaged copy \(number) of seed \(seed) \(complaint)"))
            }
            if let image = outcome.image, image.width * image.height > limits.pixelCount {
                let size = image.size
                found.append(violation("damage", item.sample, "damaged copy \(number) of seed \(seed) gives \(size)"))
            }
        }
        return found
    }

    /// What is wrong with how reading the header of damaged data ended; nil if nothing is.
    func headerComplaint(_ data: Data) -> String? {
        guard let decoder = format.makeDecoder?(context(data)) else { return nil }
        do {
            _ = try decoder.properties(of: data)
            return nil
        } catch {
            return error is ImageDecodingError ? nil : "reading the header throws \(error), no ImageDecodingError"
        }
    }

    /// What is wrong with how damaged data ended; nil if nothing is.
    func complaint(about outcome: Outcome) -> String? {
        switch outcome {
        case .image, .declined: return nil
        case .failedUntyped: return outcome.description
        case .failed(let error):
            let codes: [ImageDecodingError.Code] = [
                .corruptData, .truncated, .unsupported, .limitExceeded, .outOfMemory,
            ]
            return codes.contains(error.code) ? nil : outcome.description
        }
    }

    /// A copy with bits turned, bytes replaced, parts taken out, repeated or moved; most of it near the start.
    private static func mutated(_ original: Data, _ random: inout Random) -> Data {
        var bytes = [UInt8](original)
        guard !bytes.isEmpty else { return original }
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let reach = min(bytes.count, [64, 1024, .max][Int.random(in: 0..<3, using: &random)])
            let start = Int.random(in: 0..<reach, using: &random)
            let range = start..<min(bytes.count, start + Int.random(in: 1...32, using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1: bytes[start] ^= 1 << UInt8.random(in: 0...7, using: &random)
            case 2: bytes[start] = [0, 1, 0x7F, 0x80, 0xFE, 0xFF][Int.random(in: 0..<6, using: &random)]
            case 3: for index in range { bytes[index] = UInt8.random(in: 0...255, using: &random) }
            case 4 where bytes.count > range.count: bytes.removeSubrange(range)
            default: bytes.insert(contentsOf: bytes[range], at: start)
            }
        }
        return Data(bytes)
    }
}
