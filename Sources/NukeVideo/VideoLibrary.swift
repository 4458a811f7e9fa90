internal import CNukeVideo

/// libavformat, libavcodec, libswscale and libavutil, opened the first time that a video needs them.
// SAFETY: the table behind the pointer is filled before anybody sees it, and neither changed nor freed.
@safe
final class VideoLibrary: @unchecked Sendable {
    /// The libraries of the system.
    static let shared = VideoLibrary(folder: nil)

    /// The table of functions, for the file that reads; nil if there is a defect.
    let table: OpaquePointer?
    /// What is wrong with the libraries, and the remedy; nil if nothing is.
    let defect: String?

    /// Opens the libraries in a folder, or else where the system has them.
    ///
    /// They are those that the headers belong to, as the layout of their structs differs between major versions. What they
    /// would print is turned off, for the whole process.
    init(folder: String?) {
        // SAFETY: the name is a literal, which lives as long as the process.
        var opening = CNukeVideo_Opening.notInstalled
        var missing: UnsafePointer<CChar>?
        unsafe table = CNukeVideo_openLibrary(folder, &opening, &missing)
        let name = unsafe missing.map { unsafe String(cString: $0) } ?? "libavformat"
        defect =
            switch opening {
            case .ready: nil
            case .notInstalled: "\(name) is not installed; install the package \(name)"
            case .unfit: "\(name) is not of the version that this program was built for; update the package \(name)"
            case .withoutHeaders:
                """
                this program was built without libav; install libavformat-dev, libavcodec-dev and libswscale-dev, and \
                build it again
                """
            }
    }

    /// The version of the headers that this was built with; opens nothing, and is nil where there were none.
    static var headerVersion: String? {
        // SAFETY: a literal, which lives as long as the process.
        unsafe CNukeVideo_headerVersion().map { unsafe String(cString: $0) }
    }
}
