import NukeKit

/// What each product's C libraries are licensed under, as Debian 12 ships them.
///
/// `Documentation/Licences.md` has the same rows, and says what they ask of those who ship a program.
struct Licence: Sendable {
    /// How a library comes into a process.
    enum Use: String, Sendable {
        /// Linked to the program.
        case linked
        /// Opened at first use, not linked.
        case opened = "opened at first use"
        /// Brought along by the library above it in the table.
        case brought = "brought along"
    }

    let product: String
    let library: String
    /// The Debian package.
    let package: String
    /// By the identifiers of SPDX.
    let terms: String
    let use: Use

    /// Every library, by product.
    static let all: [Licence] = [
        Licence(
            product: "NukeColorManagement", library: "Little CMS", package: "liblcms2-2", terms: "MIT", use: .opened),
        Licence(product: "NukeCurlLoader", library: "libcurl", package: "libcurl4", terms: "curl", use: .opened),
        Licence(
            product: "NukeCurlLoader", library: "OpenSSL", package: "libssl3", terms: "Apache-2.0", use: .brought),
        Licence(
            product: "NukeDecodersHEIF", library: "libheif", package: "libheif1", terms: "LGPL-3.0-or-later",
            use: .opened),
        Licence(
            product: "NukeDecodersHEIF", library: "libde265", package: "libde265-0", terms: "LGPL-3.0-or-later",
            use: .brought),
        Licence(
            product: "NukeDecodersHEIF", library: "x265", package: "libx265-199", terms: "GPL-2.0-or-later",
            use: .brought),
        Licence(
            product: "NukeDecodersHEIF", library: "libaom", package: "libaom3", terms: "BSD-2-Clause", use: .brought),
        Licence(
            product: "NukeDecodersHEIF", library: "dav1d", package: "libdav1d6", terms: "BSD-2-Clause", use: .brought),
        Licence(
            product: "NukeDecodersJPEG", library: "libjpeg-turbo", package: "libjpeg62-turbo",
            terms: "IJG AND BSD-3-Clause AND Zlib", use: .linked),
        Licence(
            product: "NukeDecodersPNG", library: "libpng", package: "libpng16-16", terms: "libpng-2.0", use: .linked),
        Licence(product: "NukeDecodersPNG", library: "zlib", package: "zlib1g", terms: "Zlib", use: .brought),
        Licence(
            product: "NukeDecodersWebP", library: "libwebp", package: "libwebp7", terms: "BSD-3-Clause", use: .linked),
        Licence(
            product: "NukeSVG", library: "librsvg", package: "librsvg2-2", terms: "LGPL-2.0-or-later", use: .opened),
        Licence(
            product: "NukeSVG", library: "cairo", package: "libcairo2", terms: "LGPL-2.1-only OR MPL-1.1", use: .opened),
        Licence(
            product: "NukeVideo", library: "libavformat", package: "libavformat59", terms: "GPL-2.0-or-later",
            use: .opened),
        Licence(
            product: "NukeVideo", library: "libavcodec", package: "libavcodec59", terms: "GPL-2.0-or-later",
            use: .opened),
        Licence(
            product: "NukeVideo", library: "libavutil", package: "libavutil57", terms: "GPL-2.0-or-later", use: .opened),
        Licence(
            product: "NukeVideo", library: "libswscale", package: "libswscale6", terms: "GPL-2.0-or-later",
            use: .opened),
        Licence(
            product: "NukeVideo", library: "x264", package: "libx264-164", terms: "GPL-2.0-or-later", use: .brought),
        Licence(
            product: "NukeVideo", library: "x265", package: "libx265-199", terms: "GPL-2.0-or-later", use: .brought),
    ]

    /// What holds of patents, by what they are said to cover.
    static let patents: [(subject: String, note: String)] = [
        ("HEVC (HEIC)", "patents are in force, and several pools ask for licences"),
        ("H.264 (MP4, QuickTime)", "patents are in force in some countries, and a pool asks for licences"),
        (
            "AV1 (AVIF)",
            "the Alliance for Open Media's members license theirs without charge; others claim to have some"
        ),
        ("VP8 and VP9 (WebP, WebM)", "Google licenses its patents without charge"),
        ("LZW (GIF)", "expired in 2003 and 2004"),
        ("JPEG, PNG, zlib", "none known to be in force"),
    ]

    /// A row for programs.
    var json: JSONLine {
        var line = JSONLine()
        line.add("product", .text(product))
        line.add("library", .text(library))
        line.add("package", .text(package))
        line.add("licence", .text(terms))
        line.add("use", .text(use.rawValue))
        return line
    }

    /// The text of `nuke formats --licences`.
    static var text: String {
        var text = "What this program's libraries are licensed under, as Debian 12 ships them; its own code: MIT.\n\n"
        for licence in all {
            text +=
                "\(licence.product): \(licence.library) (\(licence.package)), \(licence.terms), \(licence.use.rawValue)\n"
        }
        text += "\nPatents, which no licence of a library settles:\n"
        for patent in patents { text += "\(patent.subject): \(patent.note)\n" }
        return text
            + "\nDocumentation/Licences.md says what this asks of those who ship a program. It is no legal advice.\n"
    }
}
