/// The decoders that come with the package; each product adds its own.
public enum ImageDecoders {}
