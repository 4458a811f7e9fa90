public import NukeCore

extension ImageDecoders.SVG {
    /// How SVG is drawn; given where the format is registered.
    public struct Options: Hashable, Sendable {
        /// Rules of CSS that apply as if they stood before the document's own; nil, the default: none.
        ///
        /// Rules that can't be read are passed over.
        public var stylesheet: String?
        /// What `currentColor` means where the document does not say; nil, the default: black.
        public var currentColor: PlatformColor?
        /// Bytes that a document may have, compressed and decompressed; 2 MB by default, 2 << 20.
        ///
        /// Of documents that may have more than 8 MB, libxml2's own limits are lifted.
        public var byteCount = 2 << 20
        /// Seconds that drawing may take, where the limits don't allow less; 3 by default.
        public var seconds = 3.0

        /// Creates the default options.
        public init(stylesheet: String? = nil, currentColor: PlatformColor? = nil) {
            self.stylesheet = stylesheet
            self.currentColor = currentColor
        }

        /// Both as one sheet; nil if there is nothing in it.
        var wholeStylesheet: String? {
            let color = currentColor.map { color in
                let parts = [color.red, color.green, color.blue].map { String(Int(($0 * 255).rounded())) }
                return ":root { color: rgba(\(parts.joined(separator: ",")),\(color.alpha)) }"
            }
            let rules = [color, stylesheet].compactMap { $0 }
            return rules.isEmpty ? nil : rules.joined(separator: "\n")
        }
    }
}
