internal import CNukeSVG
internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// librsvg with cairo and GIO, opened the first time that a picture needs them.
// SAFETY: the table behind the pointer is filled before anybody sees it, and neither changed nor freed.
@safe
final class SVGLibrary: @unchecked Sendable {
    /// The libraries of the system.
    static let shared: SVGLibrary = {
        let library = SVGLibrary(folder: nil)
        openedVersion.withLock { $0 = library.version }
        return library
    }()

    private static let openedVersion = Lock<String?>(nil)

    /// What is known of the version without opening anything.
    static var versionText: String { "librsvg \(openedVersion.withLock { $0 } ?? "2")" }

    fileprivate let table: OpaquePointer?
    /// What is wrong with the libraries, and the remedy; nil if nothing is.
    let defect: String?

    /// Opens the libraries in a folder, or else where the system has them.
    init(folder: String?) {
        // SAFETY: the name is a literal, which lives as long as the process.
        var opening = CNukeSVG_Opening.notInstalled
        var missing: UnsafePointer<CChar>?
        unsafe table = CNukeSVG_openLibrary(folder, &opening, &missing)
        let name = unsafe missing.map { unsafe String(cString: $0) } ?? "librsvg-2.so.2"
        let (library, package) = Self.names(of: name)
        defect =
            switch opening {
            case .ready: nil
            case .notInstalled: "\(library) is not installed; install the package \(package)"
            case .unfit: "\(library) lacks functions that are needed; update the package \(package)"
            }
    }

    /// What people call a library, and the package that has it, on Debian and Ubuntu alike.
    ///
    /// GLib's changed its name between releases; librsvg's brings it.
    private static func names(of file: String) -> (library: String, package: String) {
        if file.hasPrefix("librsvg") { return ("librsvg", "librsvg2-2") }
        return file.hasPrefix("libcairo") ? ("cairo", "libcairo2") : ("GLib", "librsvg2-2")
    }

    /// Such as "2.54.7"; nil where there is no library that can be used.
    var version: String? {
        // SAFETY: the table lives as long as the process, and three numbers are written.
        guard let table = unsafe table else { return nil }
        var numbers: (Int32, Int32, Int32) = (0, 0, 0)
        unsafe withUnsafeMutableBytes(of: &numbers) { bytes in
            guard let start = unsafe bytes.assumingMemoryBound(to: Int32.self).baseAddress else { return }
            unsafe CNukeSVG_getVersion(table, start)
        }
        return numbers.0 == 0 ? nil : "\(numbers.0).\(numbers.1).\(numbers.2)"
    }

    /// Whether there are fonts to draw text with; true where that can't be told.
    var hasFonts: Bool {
        // SAFETY: the table lives as long as the process.
        guard let table = unsafe table else { return true }
        return unsafe CNukeSVG_countFonts(table) != 0
    }

    /// What gzip has made smaller, or as much of it as is there.
    ///
    /// Throws if there are more than `limit` bytes, unless `isPrefix`: then the first ones are enough, and what can be had of them.
    func inflate(_ data: Data, limit: Int, isPrefix: Bool) throws(ImageDecodingError) -> Data {
        // SAFETY: the library writes within the capacity, and tells how much of it.
        guard let table = unsafe table else { throw missing }
        var inflated = Data(count: limit)
        var length = 0
        let status = unsafe inflated.withUnsafeMutableBytes { target -> CNukeSVG_Status in
            unsafe data.withUnsafeBytes { source -> CNukeSVG_Status in
                guard let start = unsafe source.assumingMemoryBound(to: UInt8.self).baseAddress,
                    let room = unsafe target.assumingMemoryBound(to: UInt8.self).baseAddress
                else { return .truncated }
                return unsafe CNukeSVG_inflate(table, start, source.count, room, target.count, &length)
            }
        }
        if status != .OK, !isPrefix {
            throw Self.error(
                status, status == .limitExceeded ? "more than \(limit) bytes when decompressed" : "its gzip")
        }
        return inflated.prefix(length)
    }

    private var missing: ImageDecodingError {
        .missingCodec(defect ?? "librsvg is missing", codec: ImageDecoders.SVG.codec)
    }

    /// Draws a picture; asked to end by `interruption`, as soon as librsvg can.
    func draw(
        _ picture: SVGPicture, width: Int, height: Int, options: ImageDecoders.SVG.Options,
        interruption: SVGInterruption
    ) throws(ImageDecodingError) -> Bitmap {
        // SAFETY: the data and the stylesheet outlive the call that reads them, and the pixels are as many as are written.
        guard let table = unsafe table, let handle = unsafe interruption.handle else { throw missing }
        guard var pixels = PixelBuffer(width: width, height: height) else {
            throw .outOfMemory("no memory for \(width)x\(height) pixels", codec: ImageDecoders.SVG.codec)
        }
        let stylesheet = Array((options.wholeStylesheet ?? "").utf8)
        var isOpaque = false
        var message = [CChar](repeating: 0, count: Int(CNUKESVG_MESSAGE_CAPACITY))
        let status = pixels.withBytes { bytes -> CNukeSVG_Status in
            unsafe bytes.withUnsafeMutableBytes { target -> CNukeSVG_Status in
                unsafe picture.text.withUnsafeBytes { source in
                    unsafe stylesheet.withUnsafeBufferPointer { style in
                        guard let start = unsafe source.assumingMemoryBound(to: UInt8.self).baseAddress,
                            let room = unsafe target.assumingMemoryBound(to: UInt8.self).baseAddress
                        else { return .corrupt }
                        var drawing = unsafe CNukeSVG_Drawing(
                            bytes: start, count: source.count, isUnlimited: options.byteCount > 8 << 20,
                            stylesheet: style.isEmpty ? nil : style.baseAddress, stylesheetCount: style.count,
                            naturalWidth: picture.size.width, naturalHeight: picture.size.height, width: Int32(width),
                            height: Int32(height))
                        return unsafe CNukeSVG_draw(table, &drawing, handle, room, &isOpaque, &message)
                    }
                }
            }
        }
        let words = String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard status == .OK else { throw Self.error(status, words) }
        return pixels.freeze(isOpaque: isOpaque)
    }

    private static func error(_ status: CNukeSVG_Status, _ words: String) -> ImageDecodingError {
        let codec = ImageDecoders.SVG.codec
        let reason = words.split(whereSeparator: \.isNewline).joined(separator: " ")
        switch status {
        case .limitExceeded: return .limitExceeded(reason, codec: codec)
        case .outOfMemory: return .outOfMemory(reason.isEmpty ? "no memory" : reason, codec: codec)
        case .interrupted: return .cancelled
        case .truncated: return .truncated("the data ends too early: \(reason)", codec: codec)
        case .OK, .corrupt: return .corruptData(reason.isEmpty ? "it can't be read" : reason, codec: codec)
        }
    }

    fileprivate func makeInterruption() -> OpaquePointer? {
        // SAFETY: the table lives as long as the process.
        guard let table = unsafe table else { return nil }
        return unsafe CNukeSVG_createInterruption(table)
    }
}

/// Asks a drawing to end.
// SAFETY: what is behind the pointer may be used by several threads at once, and lives as long as this.
@safe
final class SVGInterruption: @unchecked Sendable {
    private let library: SVGLibrary
    fileprivate let handle: OpaquePointer?

    init(_ library: SVGLibrary) {
        self.library = library
        unsafe handle = library.makeInterruption()
    }

    deinit {
        // SAFETY: nobody has the pointer who does not hold this object.
        if let table = unsafe library.table, let handle = unsafe handle {
            unsafe CNukeSVG_destroyInterruption(table, handle)
        }
    }

    /// Ends what reads the file, and from librsvg 2.59 on what draws.
    func interrupt() {
        // SAFETY: see above.
        if let table = unsafe library.table, let handle = unsafe handle { unsafe CNukeSVG_interrupt(table, handle) }
    }
}
