public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageDecoders {
    /// Decodes the sequences of pictures of AVIF and HEIC files, to upright RGBA of 8 bits: the first, and the animation.
    ///
    /// libheif before 1.19 shows but the still picture of such a file. The track of alpha that belongs to the pictures is put
    /// in, and colours are premultiplied. Of what is coded only the size that the track tells is shown.
    public struct HEIFSequence: ImageDecoding {
        static let codec = "HEIF sequence"

        private let context: ImageDecodingContext
        private let library: VideoLibrary
        private let type: AssetType

        /// Creates the decoder of one load; nil if the context's data is no sequence, or libav is not there.
        ///
        /// Another decoder may then have the still picture.
        public init?(context: ImageDecodingContext) { self.init(context: context, library: .shared) }

        init?(context: ImageDecodingContext, library: VideoLibrary) {
            guard let type = SequenceBrand.type(of: context.data), library.defect == nil else { return nil }
            let tracks = try? SequenceTracks(context.data.bytes, limits: context.limits)
            guard (tracks?.color.durations.count ?? 0) > 1 || !context.isCompleted else { return nil }
            self.context = context
            self.library = library
            self.type = type
        }

        /// What the container tells of the sequence.
        ///
        /// Throws if there is none.
        public func properties(of data: Data) throws -> ImageProperties? {
            let tracks = try tracks(of: data)
            let frames = try SequenceFrames(data, tracks, limits: context.limits, library: library)
            let (width, height) = frames.size
            var properties = ImageProperties(
                type: type, storedWidth: width, storedHeight: height, hasAlpha: tracks.alpha != nil, bitDepth: 8,
                colorModel: .rgb)
            properties.frameCount = tracks.color.durations.count
            properties.frameDurations = tracks.color.durations
            properties.loopCount = tracks.color.storedPlayCount
            return properties
        }

        /// The first picture, at the size of the context's hint, with the animation attached.
        ///
        /// Looks at the cancellation flag and the clock between packets, and whenever libav reads.
        public func decode(_ data: Data) throws -> ImageContainer {
            try context.cancellation.check()
            let tracks = try tracks(of: data)
            let watch = DecodingWatch(context, codec: Self.codec)
            let frames = try SequenceFrames(data, tracks, limits: context.limits, library: library, watch: watch)
            let size = ImageSize(width: frames.size.width, height: frames.size.height)
            let image = try frames.frame(at: 0, target: context.decodeHint(for: size), watch: watch)
            var container = try context.makeContainer(image: image, type: type, originalSize: size)
            if tracks.color.durations.count > 1 {
                container.animation = ImageAnimation(
                    storedDurations: tracks.color.durations, playCount: tracks.playCount, frames: frames)
            }
            return container
        }

        private func tracks(of data: Data) throws(ImageDecodingError) -> SequenceTracks {
            guard let tracks = try SequenceTracks(data.bytes, limits: context.limits), !tracks.color.durations.isEmpty
            else { throw .corruptData("there is no sequence of pictures in it", codec: Self.codec) }
            return tracks
        }
    }
}

/// Tells by the file type box whether a file holds a sequence of pictures, and of which coding.
enum SequenceBrand {
    /// ISO/IEC 23008-12, annex B, and AV1 Image File Format, 6.
    private static let hevc: Set<UInt32> = [ISOBox.code("hevc"), ISOBox.code("hevx")]
    private static let av1 = ISOBox.code("avis")
    /// Compatible brands that are looked at: more than any file has.
    private static let limit = 64

    /// What a sniff for sequences of such pictures says.
    static func answer(for data: Data, isComplete: Bool, _ pictures: AssetType) -> ImageFormat.Sniff {
        if type(of: data) == pictures { return .yes }
        guard !isComplete, data.count < 16 + limit * 4 else { return .no }
        // As long as the brands are not all there, it may be.
        let mark = Array("ftyp".utf8).prefix(max(0, data.count - 4))
        guard data.dropFirst(4).starts(with: mark) else { return .no }
        guard data.count >= 12 else { return .needsMoreData }
        return data.dropFirst(8).starts(with: Array("msf1".utf8)) ? .needsMoreData : .no
    }

    /// The type of the pictures; nil if it is no sequence.
    ///
    /// A major brand that names one counts, and `msf1` with a compatible brand that does.
    static func type(of data: Data) -> AssetType? {
        let bytes = data.bytes
        guard let box = ISOBox(at: 0, in: bytes, end: bytes.byteCount), box.kind == ISOBox.code("ftyp"), box.has(8),
            bytes.byteCount >= 12
        else { return nil }
        let major = UInt32(bytes.bigEndian(at: box.start, count: 4))
        if let type = type(of: major) { return type }
        guard major == ISOBox.code("msf1") else { return nil }
        let end = min(box.end, bytes.byteCount, box.start + 8 + limit * 4)
        return stride(from: box.start + 8, to: end - 3, by: 4).lazy.compactMap {
            type(of: UInt32(bytes.bigEndian(at: $0, count: 4)))
        }.first
    }

    private static func type(of brand: UInt32) -> AssetType? {
        brand == av1 ? .avif : hevc.contains(brand) ? .heic : nil
    }
}
