#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImagePipeline {
    /// What to show of an image while its data arrives.
    public enum PreviewPolicy: Sendable, Hashable {
        /// Everything that can be decoded so far, again and again.
        case incremental
        /// The embedded thumbnail, once.
        case thumbnail
        /// Nothing.
        case disabled

        /// What is worth showing, by the data so far: incremental for GIF and for JPEG that is known to be progressive.
        public static func `default`(for data: Data) -> PreviewPolicy {
            switch AssetType(data) {
            case .gif?: .incremental
            case .jpeg?: isProgressiveJPEG(data) ? .incremental : .disabled
            default: .disabled
            }
        }

        /// Goes from marker to marker, by the lengths they tell, to the frame header.
        private static func isProgressiveJPEG(_ data: Data) -> Bool {
            let start = data.startIndex
            var offset = 2
            while offset + 3 < data.count, data[start + offset] == 0xFF {
                let marker = data[start + offset + 1]
                switch marker {
                case 0xFF: offset += 1  // fill byte
                case 0x01, 0xD0...0xD8: offset += 2  // markers without a segment
                case 0xC2, 0xC6, 0xCA, 0xCE: return true  // frames of progressive coding
                case 0xD9, 0xDA: return false  // end of the image; start of a scan
                case 0xC4, 0xC8, 0xCC: offset += 2 + length(at: offset + 2)  // among the frames, but none
                case 0xC0...0xCF: return false  // frames of other codings
                default: offset += 2 + length(at: offset + 2)
                }
            }
            return false

            func length(at offset: Int) -> Int {
                max(2, Int(data[start + offset]) << 8 | Int(data[start + offset + 1]))
            }
        }
    }
}
