import NukeCore

/// Makes images lighter or darker by a table; sound, unless it is given a fault, which a conformance suite must find.
struct Dimmer: ImageProcessing {
    /// What the processor does wrong, and the check that must say so.
    enum Fault: String, CaseIterable, Sendable {
        case changesIdentifier = "identifier"
        case sharesIdentifier = "identifier, shared"
        case refusesGray = "result"
        case changesItsMind = "repetition"
        case mixesPictures = "concurrency"
        case forgetsPremultiplication = "premultiplied"
        case saysOpaque = "opacity"
        case forgetsOpacity = "opacity, forgotten"
        case losesContainer = "container"
        case grows = "output size"
        case ignoresOriginalSize = "hint"

        /// The name of the check.
        var check: String { String(rawValue.prefix { $0 != "," }) }
    }

    private static let count = Lock(0)
    private static let crowd = Crowd()

    let percent: Int
    let fault: Fault?

    init(percent: Int, fault: Fault? = nil) {
        self.percent = percent
        self.fault = fault
    }

    private static func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }

    var identifier: String {
        switch fault {
        case .changesIdentifier: "org.example.dimmer?\(percent),\(Self.next())"
        case .sharesIdentifier: "org.example.dimmer"
        default: "org.example.dimmer?\(percent)"
        }
    }

    func decodeHint(for original: ImageSize) -> ImageSize? {
        fault == .ignoresOriginalSize ? ImageSize(width: 50, height: 20) : nil
    }

    func outputSize(for size: ImageSize) -> ImageSize { size }

    func process(_ container: ImageContainer, context: ImageProcessingContext) throws -> ImageContainer {
        guard let image = process(container.image) else { throw ImageProcessingError.unknown }
        if fault == .losesContainer { return ImageContainer(image: image) }
        var container = container
        container.image = image
        return container
    }

    func process(_ image: PlatformImage) -> PlatformImage? {
        guard fault == .mixesPictures else { return dimmed(image, first: 0) }
        return Self.crowd.enter { dimmed(image, first: $0 ? 1 : 0) }
    }

    private func dimmed(_ image: PlatformImage, first: UInt8) -> PlatformImage? {
        if fault == .refusesGray, image.format == .gray8 { return nil }
        let extra = fault == .grows ? 1 : 0
        guard var buffer = PixelBuffer(width: image.width, height: image.height + extra, format: image.format) else {
            return nil
        }
        let change = fault == .changesItsMind ? UInt8(truncatingIfNeeded: Self.next()) : 0
        for y in 0..<image.height {
            let row = image.row(y).withUnsafeBytes { Array($0) }
            var dimmed = row
            for index in row.indices where image.format == .gray8 || !isAlpha(index, image.format) {
                dimmed[index] = image.format == .rgba16 ? row[index] : UInt8(Int(row[index]) * percent / 100)
            }
            if fault == .forgetsPremultiplication, image.format == .rgba8 {
                for index in dimmed.indices where index % 4 == 0 { dimmed[index] = 255 }
            }
            if y == 0 { dimmed[0] ^= change ^ first }
            buffer.writeStoredRow(dimmed.span.bytes, at: y, orientation: .up)
        }
        let isOpaque = fault == .saysOpaque || image.isOpaque && fault != .forgetsOpacity && extra == 0
        return buffer.freeze(isOpaque: isOpaque, colorSpace: image.colorSpace, scale: image.scale)
    }

    private func isAlpha(_ index: Int, _ format: PixelFormat) -> Bool {
        format == .rgba8 ? index % 4 == 3 : index % 8 > 5
    }
}
