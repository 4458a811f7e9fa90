import FoundationEssentials
import Glibc
import NukeCore

/// A format of the tests' own: "PIX1", width, height (16 bits, big-endian), orientation, then red, green and blue.
///
/// Its decoder is sound unless it is given a fault, which a conformance suite must find.
struct PixDecoder: ImageDecoding {
    /// What the decoder does wrong, and the check that must say so.
    enum Fault: String, CaseIterable, Sendable {
        case takesEverything = "sniff"
        case knowsNoSlices = "sniff of slices"
        case tellsWrongSize = "header"
        case isSaidToBeOpaque = "picture"
        case changesItsMind = "repetition"
        case forgetsScale = "scale"
        case showsLastPicture = "truncation"
        case throwsUntyped = "damage"
        case hasNoLimits = "limits"
        case looksAtLimitsLate = "limits, late"
        case cannotBeCancelled = "cancellation"
        case ignoresThumbnails = "thumbnail"
        case reducesTooFar = "hint"
        case isNeverTurned = "orientation"
        case decodesAnything = "foreign"
        case sharesState = "concurrency"
        case readsSlicesWrong = "slice"
        case makesNoPreviews = "preview"
        case showsOtherPreviews = "preview, other"
        case saysFinalTooEarly = "preview, final"
        case keepsImages = "leak"
        case keepsDecoders = "leak, decoders"
        case leavesFilesOpen = "leak, files"

        /// The name of the check.
        var check: String { String(rawValue.prefix { $0 != "," && $0 != " " }) }
    }

    struct Untyped: Error {}

    private static let lastPicture = Lock<[UInt8]>([])
    private static let count = Lock(0)
    private static let crowd = Crowd()
    private static let kept = Lock<[any Sendable]>([])
    private static let openFiles = Lock<[Int32]>([])

    /// Lets go of what leaking decoders have kept.
    static func cleanUp() {
        kept.withLock { $0 = [] }
        let files = openFiles.withLock { files in
            defer { files = [] }
            return files
        }
        for file in files { close(file) }
    }

    let context: ImageDecodingContext
    let fault: Fault?

    static func format(_ fault: Fault? = nil) -> ImageFormat {
        ImageFormat(
            name: "Pix", type: "org.example.pix", mimeTypes: ["image/x-pix"], fileExtensions: ["pix"],
            capabilities: [.decode, .progressive],
            sniff: { prefix in
                switch fault {
                case .takesEverything: .yes
                case .knowsNoSlices: prefix.starts(with: "PIX1") && prefix.count % 8 != 1 ? .yes : .no
                default: prefix.starts(with: "PIX1") ? .yes : .no
                }
            },
            makeDecoder: { context in
                let decoder = PixDecoder(context: context, fault: fault)
                guard fault == .keepsDecoders else { return decoder }
                let object = DecoderObject(decoder)
                kept.withLock { $0 = [object] }
                return object
            })
    }

    /// A file with a picture in which every pixel differs from its neighbours a little.
    static func file(width: Int, height: Int, orientation: ImageOrientation = .up, shade: Int = 0) -> Data {
        let header = [width >> 8, width & 255, height >> 8, height & 255, orientation.rawValue].map(UInt8.init)
        let pixels = (0..<width * height).flatMap { index -> [UInt8] in
            let (x, y) = (index % width, index / width)
            return [UInt8(x * 255 / width), UInt8(y * 255 / height), UInt8(shade)]
        }
        return Data("PIX1".utf8) + Data(header) + Data(pixels)
    }

    private struct Header {
        let width: Int
        let height: Int
        let orientation: ImageOrientation
        var size: ImageSize { orientation.applied(to: ImageSize(width: width, height: height)) }
    }

    private func header(of bytes: [UInt8]) throws -> Header {
        guard bytes.count >= 9 else { throw ImageDecodingError.truncated("no header", codec: "Pix") }
        if fault == .decodesAnything, !bytes.starts(with: "PIX1".utf8) {
            return Header(width: 8, height: 8, orientation: .up)
        }
        guard bytes.starts(with: "PIX1".utf8), let orientation = ImageOrientation(rawValue: Int(bytes[8])) else {
            throw ImageDecodingError.corruptData("no header", codec: "Pix")
        }
        return Header(
            width: Int(bytes[4]) << 8 | Int(bytes[5]), height: Int(bytes[6]) << 8 | Int(bytes[7]),
            orientation: fault == .isNeverTurned ? .up : orientation)
    }

    func properties(of data: Data) throws -> ImageProperties? {
        let header = try header(of: [UInt8](data))
        return ImageProperties(
            type: "org.example.pix", storedWidth: header.width + (fault == .tellsWrongSize ? 1 : 0),
            storedHeight: header.height, orientation: header.orientation, hasAlpha: false, bitDepth: 8,
            colorModel: .rgb)
    }

    func decode(_ data: Data) throws -> ImageContainer {
        if fault != .cannotBeCancelled { try context.cancellation.check() }
        var bytes = [UInt8](data)
        if fault == .readsSlicesWrong, data.startIndex != 0, bytes.count > 20 { bytes[20] ^= 255 }
        let header = try header(of: bytes)
        if fault == .leavesFilesOpen, header.width == 21, bytes.count == 9 + 21 * 30 * 3 {
            Self.openFiles.withLock { $0.append(open("/dev/null", O_RDONLY)) }
        }
        if fault == .throwsUntyped, bytes.count != 9 + header.width * header.height * 3 { throw Untyped() }
        if fault == .looksAtLimitsLate, bytes.count < 9 + header.width * header.height * 3 {
            throw ImageDecodingError.truncated("pixels are missing", codec: "Pix")
        }
        var limits = context.limits
        if fault == .hasNoLimits { (limits.pixelCount, limits.workingSetBytes) = (4 << 20, 64 << 20) }
        try limits.check(width: header.width, height: header.height, codec: "Pix")
        let image =
            try fault == .sharesState
            ? Self.crowd.enter { hasCompany in
                if hasCompany { bytes[10] ^= 255 }
                return try pixels(bytes, header)
            }
            : pixels(bytes, header)
        if fault == .ignoresThumbnails { return ImageContainer(image: image, type: "org.example.pix") }
        if fault == .keepsImages { Self.kept.withLock { $0 = [image] } }
        var container = try context.makeContainer(image: image, type: "org.example.pix", originalSize: header.size)
        if fault == .forgetsScale { container.image = container.image.withScale(1) }
        return container
    }

    func decodePartiallyDownloadedData(_ data: Data) throws -> ImageContainer? {
        var bytes = [UInt8](data)
        guard fault != .makesNoPreviews, bytes.count > 9 else { return nil }
        let header = try header(of: bytes)
        guard bytes.count >= 9 + header.width * 3 else { return nil }
        try context.limits.check(width: header.width, height: header.height, codec: "Pix")
        if fault == .showsOtherPreviews { for index in bytes.indices.dropFirst(9) { bytes[index] = ~bytes[index] } }
        let isPreview = fault != .saysFinalTooEarly
        return ImageContainer(image: try pixels(bytes, header), type: "org.example.pix", isPreview: isPreview)
    }

    private func pixels(_ bytes: [UInt8], _ header: Header) throws -> Bitmap {
        var (size, step) = (header.size, 1)
        if fault == .reducesTooFar, let hint = context.decodeHint(for: header.size) {
            step = max(1, Int(header.size.width / hint.width))
            size = ImageSize(width: Int(size.width) / step, height: Int(size.height) / step)
        }
        guard var buffer = PixelBuffer(width: Int(size.width), height: Int(size.height)) else {
            throw ImageDecodingError.outOfMemory("no memory", codec: "Pix")
        }
        let stored = header.orientation.applied(to: size)
        let last = Self.lastPicture.withLock { $0 }
        let number = Self.count.withLock { count in
            count += 1
            return count
        }
        let isWhole = bytes.count >= 9 + header.width * header.height * 3
        let source = fault == .showsLastPicture && !isWhole ? bytes + last.dropFirst(bytes.count) : bytes
        let alpha: UInt8 = fault == .isSaidToBeOpaque ? 254 : 255
        var row = [UInt8](repeating: 0, count: Int(stored.width) * 4)
        for y in 0..<Int(stored.height) {
            let start = 9 + y * step * header.width * 3
            guard start + header.width * 3 <= source.count else { break }
            for x in 0..<Int(stored.width) {
                let offset = start + x * step * 3
                row[x * 4] = source[offset]
                row[x * 4 + 1] = source[offset + 1]
                row[x * 4 + 2] = source[offset + 2]
                row[x * 4 + 3] = alpha
            }
            if fault == .changesItsMind { row[0] = UInt8(truncatingIfNeeded: number) }
            buffer.writeStoredRow(row.span.bytes, at: y, orientation: header.orientation)
        }
        if isWhole { Self.lastPicture.withLock { $0 = bytes } }
        return buffer.freeze(isOpaque: isWhole)
    }
}

/// A decoder that is an object.
private final class DecoderObject: ImageDecoding {
    private let decoder: PixDecoder

    init(_ decoder: PixDecoder) { self.decoder = decoder }

    func properties(of data: Data) throws -> ImageProperties? { try decoder.properties(of: data) }
    func decode(_ data: Data) throws -> ImageContainer { try decoder.decode(data) }

    func decodePartiallyDownloadedData(_ data: Data) throws -> ImageContainer? {
        try decoder.decodePartiallyDownloadedData(data)
    }
}
