#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif
#if canImport(Glibc)
    internal import Glibc
#endif

/// Where the bytes of a video are: in memory, all or as many as have come, or in a file.
struct VideoSource: Sendable {
    enum Origin: Sendable {
        case data(Data)
        case file(VideoFile)
    }

    let origin: Origin
    /// Bytes of the whole.
    let size: Int
    /// How many bytes from the first on have come.
    let arrived: Int
    /// What has come from further on.
    let ranges: [Range<Int>]

    /// Data that is all there is.
    init(_ data: Data) { self.init(data, size: data.count, arrived: data.count, ranges: []) }

    /// Data of which not all has come.
    init(_ data: Data, size: Int, arrived: Int, ranges: [Range<Int>]) {
        origin = .data(data)
        self.size = max(size, data.count)
        self.arrived = min(arrived, data.count)
        self.ranges = ranges
    }

    /// A file, read piece by piece.
    init(_ file: VideoFile) {
        origin = .file(file)
        size = file.size
        arrived = file.size
        ranges = []
    }
}

/// An open regular file, closed with its last reference.
final class VideoFile: Sendable {
    let descriptor: Int32
    let size: Int

    /// Nil if it can't be opened.
    init?(path: String) {
        // SAFETY: the path is a C string for the call, the struct outlives its call.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        size = Int(status.st_size)
    }

    deinit { close(descriptor) }
}
