public import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension ImageFormat {
    /// MPEG-4 video over libav, which is opened at first use; 3GPP and files of sound with a cover too.
    public static let mp4 = video(.mp4)
    /// Apple's variant of MPEG-4 video over libav, which is opened at first use.
    public static let m4v = video(.m4v)
    /// QuickTime video over libav, which is opened at first use.
    public static let mov = video(.mov)
    /// WebM video over libav, which is opened at first use.
    public static let webm = video(.webm)
    /// Matroska video over libav, which is opened at first use.
    public static let mkv = video(.mkv)

    /// A format of videos that takes another picture for the poster where the request does not say.
    ///
    /// - Parameters:
    ///   - type: mp4, m4v, mov, webm or mkv; every other type counts as mp4.
    ///   - poster: Which picture to take; the first that is not black by default.
    public static func video(_ type: AssetType, poster: ImageRequest.VideoPoster = .firstVisible) -> ImageFormat {
        let (type, name, mimeTypes, fileExtensions): (AssetType, String, [String], [String]) =
            switch type {
            case .m4v: (.m4v, "M4V", ["video/x-m4v"], ["m4v"])
            case .mov: (.mov, "QuickTime", ["video/quicktime"], ["mov", "qt"])
            case .webm: (.webm, "WebM", ["video/webm"], ["webm"])
            case .mkv: (.mkv, "Matroska", ["video/matroska", "video/x-matroska"], ["mkv"])
            default: (.mp4, "MP4", ["video/mp4", "video/3gpp"], ["mp4", "3gp", "m4a"])
            }
        return ImageFormat(
            name: name, type: type, mimeTypes: mimeTypes, fileExtensions: fileExtensions,
            capabilities: [.decode, .scaledDecode, .finishesEarly],
            sniff: { prefix in
                switch VideoSniffer.answer(for: prefix.bytes, isComplete: prefix.isComplete) {
                case .type(let found): found == type ? .yes : .no
                case .other: .no
                case .needsMoreData: .needsMoreData
                }
            },
            makeDecoder: { ImageDecoders.Video(context: $0, poster: poster) },
            // As built against: telling a version is no reason to open the libraries, which takes 20 ms.
            libraryVersion: { VideoLibrary.headerVersion.map { "libavformat " + $0 } },
            missingLibrary: { VideoLibrary.shared.defect })
    }

    /// Sequences of pictures coded with AV1 over libav, which is opened at first use; to be asked before `avif`.
    ///
    /// Declines files without a sequence, and everything where libav is missing, so that `avif` has the still picture.
    public static let avifSequence = sequence(
        "AVIF sequence", .avif, "public.avis", ["image/avif-sequence"])
    /// Sequences of pictures coded with HEVC over libav, which is opened at first use; to be asked before `heic`.
    ///
    /// Declines files without a sequence, and everything where libav is missing, so that `heic` has the still picture.
    public static let heicSequence = sequence(
        "HEIC sequence", .heic, "public.heics", ["image/heic-sequence", "image/heif-sequence"])

    private static func sequence(
        _ name: String, _ pictures: AssetType, _ type: AssetType, _ mimeTypes: [String]
    ) -> ImageFormat {
        ImageFormat(
            // The extensions are those of the formats that can write such files.
            name: name, type: type, mimeTypes: mimeTypes, fileExtensions: [],
            capabilities: [.decode, .animation, .scaledDecode, .alpha],
            sniff: { SequenceBrand.answer(for: $0.bytes, isComplete: $0.isComplete, pictures) },
            makeDecoder: { ImageDecoders.HEIFSequence(context: $0) },
            libraryVersion: { VideoLibrary.headerVersion.map { "libavformat " + $0 } },
            missingLibrary: { VideoLibrary.shared.defect })
    }
}
