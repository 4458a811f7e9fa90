extension ImageRequest {
    /// Which picture stands for a video.
    public enum VideoPoster: Hashable, Sendable {
        /// The first one that is not black, within the first seconds; else the first of all.
        case firstVisible
        /// The one shown so many seconds from the start; the last, where that is behind the end.
        case time(seconds: Double)
        /// The one shown after this part of the duration, 0…1.
        case fraction(Double)
        /// A sheet of pictures that are evenly spread over the duration, row by row: at least one of each.
        case sheet(columns: Int, rows: Int)

        /// What tells it from the others, for keys.
        var identifier: String {
            switch self {
            case .firstVisible: "visible"
            case .time(let seconds): "t=\(seconds)"
            case .fraction(let fraction): "f=\(fraction)"
            case .sheet(let columns, let rows): "s=\(columns)x\(rows)"
            }
        }
    }
}
