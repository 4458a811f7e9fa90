/// Reads the density of pixels out of EXIF data, wherever a format keeps it.
public enum EXIFDensity {
    /// The density that EXIF data tells; nil if it tells none, or one that is not positive.
    ///
    /// The tags 0x011A and 0x011B, by the unit of 0x0128, of the first directory (TIFF 6.0, section 8). Nothing outside
    /// `bytes` is read, whatever they say.
    public static func read(from bytes: RawSpan) -> ImageProperties.Density? {
        guard let reader = EXIFReader(bytes), let directory = reader.pictureDirectory(in: bytes),
            let x = reader.rational(0x011A, directory: directory, in: bytes),
            let y = reader.rational(0x011B, directory: directory, in: bytes)
        else { return nil }
        switch reader.integer(0x0128, directory: directory, in: bytes) ?? 2 {
        case 2: return ImageProperties.Density(x: x, y: y)
        case 3: return ImageProperties.Density(x: x * 2.54, y: y * 2.54)
        default: return nil
        }
    }
}
