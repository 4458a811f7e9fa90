/// Finds the thumbnail in EXIF data, wherever a format keeps it.
public enum EXIFThumbnail {
    /// Where in the data the thumbnail lies, which is a JPEG file; nil if there is none that is whole.
    ///
    /// It is described by the second directory (EXIF 2.32, 4.5.8), by the tags 0x0201 and 0x0202, and stored in the same
    /// orientation as the picture. Nothing outside `bytes` is read, whatever they say.
    public static func range(in bytes: RawSpan) -> Range<Int>? {
        guard let reader = EXIFReader(bytes), let directory = reader.thumbnailDirectory(in: bytes),
            let offset = reader.integer(0x0201, directory: directory, in: bytes),
            let count = reader.integer(0x0202, directory: directory, in: bytes), count > 0,
            reader.start + offset + count <= bytes.byteCount
        else { return nil }
        return reader.start + offset..<reader.start + offset + count
    }
}
