/// How the samples of one pixel are stored.
public enum PixelFormat: Hashable, Sendable, CaseIterable {
    /// Red, green, blue, alpha; 8 bits each; colour premultiplied by alpha. What processors and encoders expect.
    case rgba8
    /// Red, green, blue, alpha; 16 bits each in the machine's byte order; colour premultiplied by alpha.
    case rgba16
    /// One 8-bit sample of luminance, opaque.
    case gray8

    /// Bytes a pixel takes.
    public var bytesPerPixel: Int {
        switch self {
        case .rgba8: 4
        case .rgba16: 8
        case .gray8: 1
        }
    }

    /// Samples in a pixel.
    public var channelCount: Int { self == .gray8 ? 1 : 4 }

    /// Bits in a sample.
    public var bitsPerChannel: Int { self == .rgba16 ? 16 : 8 }
}
