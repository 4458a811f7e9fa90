/// An option of the command line.
///
/// The parser and the help are both made from `Option.all`.
struct Option: Sendable {
    /// What options are known by.
    enum Name: String, CaseIterable, Sendable {
        case frame, at, sheet, resize, fit, fill, crop, enlarge, format, quality, output, force, concurrency, cache
        case noCache = "no-cache"
        case keepMetadata = "keep-metadata"
        case fromFile = "from-file"
        case json, quiet, stats, metrics, licences, help, version
    }

    let name: Name
    /// A letter that may stand for the name.
    var letter: Character?
    /// What the value is called; nil for options without one.
    var value: String?
    /// The commands that take the option.
    let commands: Set<Command>
    /// A line of help.
    let help: String

    /// Every option, in the order of the help.
    static let all: [Option] = [
        Option(
            name: .frame, value: "N", commands: [.load],
            help: "frame N of an animation, from 0, instead of all of them"),
        Option(
            name: .at, value: "TIME|PART", commands: [.load],
            help: "of a video the picture at 2.5s or 10%; by default the first that is not black"),
        Option(
            name: .sheet, value: "CxR", commands: [.load],
            help: "of a video C by R pictures, evenly spread, in one image"),
        Option(name: .resize, value: "W|xH|WxH", commands: [.load], help: "resize to a width, a height, or into both"),
        Option(name: .fit, commands: [.load], help: "WxH: as large as fits into it, the default"),
        Option(name: .fill, commands: [.load], help: "WxH: as small as covers it"),
        Option(name: .crop, commands: [.load], help: "WxH: as small as covers it, and cut to it"),
        Option(name: .enlarge, commands: [.load], help: "also make images larger that are smaller"),
        Option(
            name: .format, value: "NAME", commands: [.load],
            help: "the format to write, by name or extension: one that `nuke formats` can encode"),
        Option(name: .quality, value: "1…100", commands: [.load], help: "quality of lossy formats; 80 by default"),
        Option(
            name: .keepMetadata, commands: [.load],
            help: "keep EXIF data, also where a picture was taken, and the colour profile"),
        Option(
            name: .output, letter: "o", value: "FILE|DIR|-", commands: [.load],
            help: "where to write; - is standard output; the current folder by default"),
        Option(name: .force, commands: [.load], help: "replace files that exist"),
        Option(
            name: .concurrency, value: "N", commands: [.load, .info],
            help: "inputs at once; by default what suits the machine"),
        Option(
            name: .fromFile, value: "FILE", commands: [.load, .info],
            help: "read inputs from a file, one a line; - is standard input"),
        Option(name: .cache, value: "DIR", commands: [.load, .info, .cache], help: "the folder of the disk cache"),
        Option(name: .noCache, commands: [.load, .info], help: "no disk cache"),
        Option(name: .stats, commands: [.info], help: "decode too, and add mean colours"),
        Option(
            name: .metrics, commands: [.load], help: "also tell what each step took, on standard error or in --json"),
        Option(name: .licences, commands: [.formats], help: "tell what the libraries are licensed under"),
        Option(name: .json, commands: [.load, .info, .formats, .cache], help: "one JSON object a line"),
        Option(name: .quiet, letter: "q", commands: [.load], help: "say nothing but errors"),
        Option(name: .help, letter: "h", commands: Set(Command.allCases), help: "show this help"),
        Option(name: .version, commands: [], help: "show the versions of the program and of the libraries in use"),
    ]
}

/// What the program can be told to do.
enum Command: String, CaseIterable, Sendable {
    case load, info, formats, cache, help, version

    /// A line of help; nil for those that are options.
    var help: String? {
        switch self {
        case .load: "load images from URLs or files, resize and write them"
        case .info: "tell what images are, by their headers"
        case .formats: "tell which formats can be decoded and encoded"
        case .cache: "tell about the disk cache (stats), or empty it (clear)"
        case .help, .version: nil
        }
    }
}
