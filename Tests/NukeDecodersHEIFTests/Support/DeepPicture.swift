import FoundationEssentials
import Testing

/// A HEIC of 10 bits a sample, 64×64: red rises to the right and green to the bottom, from 0 to full; blue is half.
///
/// Made with `heif-enc -b 10 -q 90 -L` of a PNG of 16 bits, as the encoder under test writes 8 bits only.
enum DeepPicture {
    static func data() throws -> Data { try #require(Data(base64Encoded: text.joined())) }

    private static let text = [
        "AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAUBtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAA",
        "AA5waXRtAAAAAAABAAAAImlsb2MAAAAAREAAAQABAAAAAAFkAAEAAAAAAAABSQAAACNpaW5mAAAAAAABAAAAFWluZmUCAAAAAAEA",
        "AGh2YzEAAAAAwGlwcnAAAACiaXBjbwAAAHZodmNDAQQIAAAAAAAAAAAAHvAA/P36+gAADwMgAAEAF0ABDAH//wQIAAADAJ24AAAD",
        "AAAeugJAIQABACpCAQEECAAAAwCduAAAAwAAHqAggQTZbqSSmubgQEDAgAAAAwCAAAADAIQiAAEAB0QBwXKwIkAAAAAUaXNwZQAA",
        "AAAAAABAAAAAQAAAABBwaXhpAAAAAAMKCgoAAAAWaXBtYQAAAAAAAAABAAEDgQKDAAABUW1kYXQAAAFFKAGvBjiuHJ00a9WtV0m+",
        "PQbP0PyPnfyXkpZL7NHWcVBCfkddXy/4J9v9xVcVeFxODqXWKq1cd/X0zy6WfL9RWfeIziWi9mKyxlDiTcl/oPr9wqncFySs4ZZH",
        "E13dKshMvmJ0gmHxyQ4egTaT3bY8EPwoiQ/18lbJU5QZFz4Oml7yCZykOEv3zU+nkFcC0GCI2tDmUTwFDzNIPBp3hCtX2R7GWKF+",
        "0MVRTb1ubcM9tI+wGhgBWpkg78hG6raAwlVmvT/1HBtu5GthjxAMVBaIilsa8f/V/+kyJ09RzubE2D+RLKpJjeeLuh1cKaKoGWGL",
        "EihyIFkdJraBdat/sfa3ylTezJbMgJRk88OrrLnsMJeHhfbVjCQSZH/b9iS8JJqZZWkIS5hy2Tziqmb/aE5aO78XXFo2der8F2mj",
        "SlueaiPt8h2lpg==",
    ]
}
