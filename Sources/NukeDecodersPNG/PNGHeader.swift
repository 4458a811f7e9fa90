internal import NukeCore

/// What a PNG tells outside its pixels, read by walking the chunks (PNG, third edition, 5.3): nothing is inflated.
struct PNGHeader {
    /// The first eight bytes of every PNG.
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// How many chunks may stand before the picture, and how many of other kinds are looked at behind it.
    private static let maximumChunkCount = 10_000

    /// Columns as stored.
    let width: Int
    /// Rows as stored.
    let height: Int
    /// Bits a stored sample has.
    let bitDepth: Int
    /// What is in a stored pixel.
    let colorType: ColorType
    /// Whether the picture is stored in the seven passes of Adam7.
    let isInterlaced: Bool
    /// Whether a `tRNS` chunk makes pixels transparent.
    private(set) var hasTransparency = false
    /// Whether there is an `iCCP` chunk with a right checksum.
    private(set) var hasICCProfile = false
    /// The orientation in the `eXIf` chunk.
    private(set) var orientation = ImageOrientation.up

    /// Where the contents of the `eXIf` chunk are.
    private(set) var exif: Range<Int>?

    /// Where the `PLTE` chunk before the picture is.
    private(set) var palette: Range<Int>?
    /// Where the `tRNS` chunk before the picture is.
    private(set) var transparency: Range<Int>?
    /// Whether the file is of the kind that Xcode makes for iOS: a chunk CgBI stands before IHDR.
    let isAppleVariant: Bool
    /// The offset of the chunk behind IHDR.
    let end: Int

    private var paletteCount = 0
    private var hasSeenProfile = false

    /// The colour types of IHDR (11.2.1).
    enum ColorType: UInt8 {
        case gray = 0
        case rgb = 2
        case indexed = 3
        case grayAlpha = 4
        case rgba = 6

        /// Whether pixels have an alpha sample.
        var hasAlpha: Bool { self == .grayAlpha || self == .rgba }

        /// The depths that go with the type.
        var bitDepths: [UInt8] {
            switch self {
            case .gray: [1, 2, 4, 8, 16]
            case .indexed: [1, 2, 4, 8]
            case .rgb, .grayAlpha, .rgba: [8, 16]
            }
        }
    }

    /// Reads the header and walks to the end, or to where the chunks end to be whole.
    init(_ bytes: RawSpan) throws(ImageDecodingError) {
        let codec = ImageDecoders.PNG.codec
        for (index, byte) in Self.signature.enumerated() {
            guard index < bytes.byteCount else { throw .truncated("the data ends within the signature", codec: codec) }
            guard bytes.byte(at: index) == byte else { throw .corruptData("there is no PNG signature", codec: codec) }
        }
        guard var first = PNGChunk(at: Self.signature.count, in: bytes) else {
            throw .truncated("the data ends within the header", codec: codec)
        }
        isAppleVariant = first.kind == .appleVariant
        if isAppleVariant {
            guard let second = PNGChunk(at: first.end, in: bytes) else {
                throw .truncated("the data ends within the header", codec: codec)
            }
            first = second
        }
        guard first.kind == .header, first.count == 13, first.isIntact(in: bytes) else {
            throw .corruptData("the first chunk is no sound IHDR", codec: codec)
        }
        let fields = (0..<5).map { bytes.byte(at: first.start + 8 + $0) }
        width = Int(bytes.bigEndian(at: first.start))
        height = Int(bytes.bigEndian(at: first.start + 4))
        guard (1...Int(Int32.max)).contains(width), (1...Int(Int32.max)).contains(height) else {
            throw .corruptData("IHDR declares \(width)x\(height) pixels", codec: codec)
        }
        guard let type = ColorType(rawValue: fields[1]), type.bitDepths.contains(fields[0]) else {
            throw .corruptData("IHDR declares colour type \(fields[1]) with \(fields[0]) bits", codec: codec)
        }
        guard fields[2] == 0, fields[3] == 0, fields[4] <= 1 else {
            throw .corruptData("IHDR declares an unknown compression, filter or interlace method", codec: codec)
        }
        bitDepth = Int(fields[0])
        colorType = type
        isInterlaced = fields[4] == 1
        end = first.end
        try walk(from: end, in: bytes)
    }

    /// Whether the first bytes declare that the picture is stored in passes.
    static func declaresPasses(_ bytes: RawSpan) -> Bool {
        bytes.byteCount > 28 && bytes.bigEndian(at: 12) == PNGChunk.Kind.header.rawValue && bytes.byte(at: 28) == 1
    }

    /// Whether a pixel may be transparent, also by a `tRNS` chunk that does not hold.
    var mayHaveAlpha: Bool { colorType.hasAlpha || transparency != nil }

    /// What goes into `ImageProperties`.
    var properties: ImageProperties {
        let model: ImageProperties.ColorModel =
            switch colorType {
            case .gray, .grayAlpha: .gray
            case .indexed: .indexed
            case .rgb, .rgba: .rgb
            }
        return ImageProperties(
            type: .png, storedWidth: width, storedHeight: height, orientation: orientation,
            hasAlpha: colorType.hasAlpha || hasTransparency, bitDepth: bitDepth, colorModel: model,
            hasICCProfile: hasICCProfile, isProgressive: isInterlaced)
    }

    /// Takes what counts from the chunks behind IHDR; `eXIf` may stand behind the picture too.
    private mutating func walk(from start: Int, in bytes: RawSpan) throws(ImageDecodingError) {
        let codec = ImageDecoders.PNG.codec
        var (place, count, isBehindPicture) = (start, 0, false)
        while let chunk = PNGChunk(at: place, in: bytes), chunk.kind != .end {
            place = chunk.end
            if chunk.kind == .picture {
                (isBehindPicture, count) = (true, isBehindPicture ? count : 0)
                continue
            }
            count += 1
            if count > Self.maximumChunkCount {
                if isBehindPicture { return }
                throw .limitExceeded("more than \(count - 1) chunks before the picture", codec: codec)
            }
            if chunk.kind == .exif, exif == nil, chunk.isIntact(in: bytes) {
                orientation = EXIFOrientation.read(from: bytes.extracting(chunk.start..<chunk.start + chunk.count))
                exif = chunk.start..<chunk.start + chunk.count
            }
            if !isBehindPicture { try take(chunk, in: bytes) }
        }
    }

    private mutating func take(_ chunk: PNGChunk, in bytes: RawSpan) throws(ImageDecodingError) {
        switch chunk.kind {
        case .palette:
            paletteCount = chunk.count / 3
            if palette == nil { palette = chunk.start - 8..<chunk.end }
        case .transparency:
            let isFitting: Bool =
                switch colorType {
                case .gray: chunk.count == 2
                case .rgb: chunk.count == 6
                case .indexed: 0 < chunk.count && chunk.count <= paletteCount
                case .grayAlpha, .rgba: false
                }
            if isFitting, chunk.isIntact(in: bytes) { hasTransparency = true }
            if transparency == nil { transparency = chunk.start - 8..<chunk.end }
        case .profile:
            if !hasSeenProfile { hasICCProfile = chunk.isIntact(in: bytes) }
            hasSeenProfile = true
        case .animation:
            if chunk.count == 8, chunk.isIntact(in: bytes), bytes.bigEndian(at: chunk.start) == 0 {
                throw .corruptData("acTL declares an animation of no frames", codec: ImageDecoders.PNG.codec)
            }
        default:
            break
        }
    }
}
