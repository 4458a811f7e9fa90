import FoundationEssentials

/// Files of 200 MB in memory's stead: a small video whose box of pictures goes on with zeros.
enum LargeVideo {
    /// The bytes before the zeros, how many zeros there are, and the bytes behind them.
    struct Parts {
        var head: Data
        var zeroCount: Int
        var tail: Data

        var count: Int { head.count + zeroCount + tail.count }

        /// These bytes of the file.
        func bytes(_ range: Range<Int>) -> Data {
            var data = Data(count: range.count)
            func put(_ part: Data, at start: Int) {
                let (low, high) = (max(range.lowerBound, start), min(range.upperBound, start + part.count))
                guard low < high else { return }
                data.replaceSubrange(
                    low - range.lowerBound..<high - range.lowerBound,
                    with: part.dropFirst(low - start).prefix(high - low))
            }
            put(head, at: 0)
            put(tail, at: head.count + zeroCount)
            return data
        }
    }

    /// A video of so many bytes, with so many bytes of padding in its index, which is in front or at the end.
    ///
    /// - Parameter small: A file of the boxes `ftyp`, `free`, `mdat`, `moov`, in this order.
    static func make(_ small: Data, count: Int, indexPadding: Int, isIndexInFront: Bool) -> Parts {
        let boxes = self.boxes(of: small)
        guard let type = boxes["ftyp"], let pictures = boxes["mdat"], var index = boxes["moov"],
            let offset = small.firstRange(of: pictures)?.lowerBound
        else { return Parts(head: small, zeroCount: 0, tail: Data()) }
        index += box("free", Data(count: indexPadding))
        let payload = pictures.dropFirst(8)
        let frame = type.count + 16 + (isIndexInFront ? index.count : 0)
        index = moved(index, by: frame - (offset + 8))
        index.replaceSubrange(0..<4, with: big(index.count, 4))
        let zeros = count - type.count - index.count - 16 - payload.count
        // A long length: 1, the name, then eight bytes.
        let start = big(1, 4) + Data("mdat".utf8) + big(16 + payload.count + zeros, 8)
        if isIndexInFront { return Parts(head: type + index + start + payload, zeroCount: zeros, tail: Data()) }
        return Parts(head: type + start + payload, zeroCount: zeros, tail: index)
    }

    private static func big(_ value: Int, _ count: Int) -> Data {
        Data((0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) })
    }

    private static func box(_ name: String, _ data: Data) -> Data { big(data.count + 8, 4) + Data(name.utf8) + data }

    private static func number(_ data: Data, _ place: Int) -> Int {
        data[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    private static func boxes(of data: Data) -> [String: Data] {
        var boxes: [String: Data] = [:]
        var place = 0
        while place + 8 <= data.count {
            let size = number(data, place)
            guard size >= 8, place + size <= data.count else { break }
            boxes[String(decoding: data[place + 4..<place + 8], as: UTF8.self)] = Data(data[place..<place + size])
            place += size
        }
        return boxes
    }

    /// The index with the places of its pictures moved (`stco`, ISO/IEC 14496-12, 8.7.5).
    private static func moved(_ index: Data, by distance: Int) -> Data {
        var index = index
        var search = 0
        while let name = index[search...].firstRange(of: Data("stco".utf8)) {
            let count = number(index, name.upperBound + 4)
            for entry in 0..<count {
                let place = name.upperBound + 8 + entry * 4
                index.replaceSubrange(place..<place + 4, with: big(number(index, place) + distance, 4))
            }
            search = name.upperBound
        }
        return index
    }
}
