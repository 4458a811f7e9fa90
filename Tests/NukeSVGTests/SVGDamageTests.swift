import FoundationEssentials
import NukeCore
import NukeSVG
import Testing

@Suite("Damaged SVG", .needsLibrary, .timeLimit(.minutes(5)))
struct SVGDamageTests {
    private static let document = SVGUnderTest.document(
        """
        <?x y?><!-- c --><defs><linearGradient id="a" x2="1"><stop stop-color="#24c"/><stop offset="1" stop-color="red"/>\
        </linearGradient><filter id="f"><feGaussianBlur stdDeviation="2"/><feOffset dx="3"/></filter><clipPath id="c">\
        <circle cx="20" cy="15" r="12"/></clipPath><mask id="m"><rect width="30" height="30" fill="#fff"/></mask>\
        <pattern id="p" width="4" height="4" patternUnits="userSpaceOnUse"><rect width="2" height="2"/></pattern></defs>\
        <style>.q { stroke: url(#a); opacity: .8 }</style><g transform="translate(1 2) scale(1.1)" clip-path="url(#c)">\
        <rect id="r" width="30" height="20" fill="url(#a)" filter="url(#f)"/><path class="q" d="M1 1C9 9 8 20 30 4z"/></g>\
        <use xlink:href="#r" x="4" mask="url(#m)"/><ellipse cx="9" cy="9" rx="5" ry="3" fill="url(#p)"/>\
        <image width="5" height="5" xlink:href="data:image/gif;base64,R0lGODlhAQABAIAAAP8AAAAAACwAAAAAAQABAAACAkQBADs="/>
        """)
    private static let codes: [ImageDecodingError.Code] = [
        .corruptData, .truncated, .unsupported, .limitExceeded, .outOfMemory,
    ]

    private func check(_ data: Data, _ place: String) {
        let error = SVGUnderTest.error(data) {
            $0.limits.pixelCount = 1 << 20
            $0.limits.workingSetBytes = 64 << 20
        }
        if let error { #expect(Self.codes.contains(error.code) && !error.reason.isEmpty, "\(place): \(error)") }
    }

    @Test("Cut anywhere, a document is a typed error")
    func cuts() {
        for count in 0..<Self.document.count {
            let data = Self.document.prefix(count)
            guard ImageDecoders.SVG(context: SVGUnderTest.context(data)) != nil else { continue }
            let error = SVGUnderTest.error(data)
            #expect(error?.code == .corruptData || error?.code == .truncated, "\(count): \(String(describing: error))")
        }
    }

    @Test("2,000 damaged copies give typed errors or images")
    func mutations() {
        var numbers = SeededNumbers(seed: 11)
        let values = ["0", "-1", "1e9", "1e38", "-1e20", "99999999", "0.000001", "nan", "1e-30", "&", "#", "%"].map {
            Array($0.utf8)
        }
        for round in 0..<2000 {
            var bytes = [UInt8](Self.document)
            for _ in 0..<Int.random(in: 1...4, using: &numbers) {
                let place = Int.random(in: 0..<bytes.count, using: &numbers)
                let range = place..<min(bytes.count, place + Int.random(in: 1...24, using: &numbers))
                switch Int.random(in: 0..<6, using: &numbers) {
                case 0: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &numbers)
                case 1: bytes[place] = Array("0123456789-+.eE%\"<>/&#;".utf8).randomElement(using: &numbers) ?? 0
                case 2: bytes.replaceSubrange(range, with: bytes[range].shuffled(using: &numbers))
                case 3: bytes.removeSubrange(range)
                case 4: bytes.insert(contentsOf: bytes[range], at: place)
                default:
                    guard let digit = bytes[place...].firstIndex(where: { (0x30...0x39).contains($0) }) else {
                        continue
                    }
                    bytes.replaceSubrange(digit...digit, with: values.randomElement(using: &numbers) ?? [])
                }
            }
            check(Data(bytes), "copy \(round)")
        }
    }

    @Test("Bytes that only begin as a document are a typed error")
    func noise() {
        var numbers = SeededNumbers(seed: 23)
        for head in ["<svg ", "<svg width='9' height='9'>", "<?xml version='1.0'?><svg>"] {
            for count in 0..<60 {
                let data =
                    Data(head.utf8) + Data((0..<count * 7).map { _ in UInt8.random(in: 0...255, using: &numbers) })
                check(data, "\(count * 7) bytes")
                #expect(SVGUnderTest.error(data) != nil || head == "<svg ")
            }
        }
    }

    @Test("Limits hold before pixels are made, and cancellation ends a decode at once")
    func limits() {
        let data = Self.document
        #expect(SVGUnderTest.error(data) { $0.limits.pixelCount = 40 * 30 - 1 }?.code == .limitExceeded)
        #expect(SVGUnderTest.error(data) { $0.limits.sideLength = 39 }?.code == .limitExceeded)
        #expect(SVGUnderTest.error(data) { $0.limits.workingSetBytes = 40 * 30 * 4 }?.code == .limitExceeded)
        #expect(SVGUnderTest.error(data) { $0.limits.seconds = 0 }?.code == .limitExceeded)
        #expect(SVGUnderTest.error(data) { $0.cancellation.cancel() }?.code == .cancelled)
        #expect(SVGUnderTest.error(data) { $0.limits.pixelCount = 40 * 30 } == nil)
    }
}
