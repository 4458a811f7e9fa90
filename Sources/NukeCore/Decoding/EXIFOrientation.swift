/// Reads the orientation out of EXIF data, wherever a format keeps it.
public enum EXIFOrientation {
    /// The orientation that EXIF data tells; `up` if it tells none, or one that is not valid.
    ///
    /// The data is a TIFF structure, with or without the `Exif` header that JPEG puts before it. Only the first directory
    /// counts: the second describes the thumbnail. The tag 0x0112 is a SHORT; a LONG is taken as well, since some writers
    /// use it. Nothing outside `bytes` is read, whatever they say.
    public static func read(from bytes: RawSpan) -> ImageOrientation {
        guard let reader = EXIFReader(bytes), let directory = reader.pictureDirectory(in: bytes),
            let value = reader.integer(0x0112, directory: directory, in: bytes)
        else { return .up }
        return ImageOrientation(rawValue: value) ?? .up
    }
}
