import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.timeLimit(.minutes(5)))
struct ReceivedDataTests {
    @Test("64 MB in 16 KB chunks with every prefix kept are copied at most three times [PITFALLS 79]")
    func copies() {
        var received = ReceivedData()
        received.reserve(-1)
        var prefixes: [Data] = []
        let count = 4096
        for index in 0..<count {
            received.append(Data(repeating: UInt8(index & 255), count: 16 << 10))
            prefixes.append(received.prefix())
        }
        #expect(received.count == 64 << 20 && received.copiedCount <= 3 * (64 << 20))
        for (index, prefix) in prefixes.enumerated() where index % 97 == 0 {
            #expect(prefix.count == (index + 1) * (16 << 10))
            for chunk in stride(from: 0, through: index, by: 31) {
                #expect(prefix[chunk * (16 << 10)] == UInt8(chunk & 255))
            }
        }
    }

    @Test("a body that comes in one piece is not copied")
    func onePiece() {
        var received = ReceivedData()
        received.reserve(5)
        received.append(Data([1, 2, 3, 4, 5]))
        #expect(received.copiedCount == 0 && received.prefix() == Data([1, 2, 3, 4, 5]))
        received.append(Data([6]))
        #expect(received.prefix() == Data([1, 2, 3, 4, 5, 6]) && received.count == 6)
    }

    @Test("what a server declares is not reserved beyond a bound [DAT-23]")
    func hostileLength() {
        var received = ReceivedData()
        received.reserve(.max)
        received.append(Data([1]))
        received.append(Data([2]))
        #expect(received.prefix() == Data([1, 2]))
    }

    @Test("nothing received is empty")
    func empty() {
        var received = ReceivedData()
        received.reserve(-5)
        #expect(received.prefix().isEmpty && received.count == 0)
    }

    @Test("pieces from further on stand in their places, zeros between, and are no part of the rest")
    func pieces() {
        var received = ReceivedData()
        received.append(Data([1, 2]))
        let before = received.prefix(with: [(offset: 5, data: Data([6, 7])), (offset: 1, data: Data([9]))])
        #expect(before == Data([1, 2, 0, 0, 0, 6, 7]) && received.prefix() == Data([1, 2]))
        received.append(Data([3, 4, 5, 6]))
        #expect(before == Data([1, 2, 0, 0, 0, 6, 7]))
        #expect(received.prefix(with: [(offset: 5, data: Data([6, 7]))]) == Data([1, 2, 3, 4, 5, 6, 7]))
        #expect(received.prefix(with: [(offset: 2, data: Data([3]))]) == Data([1, 2, 3, 4, 5, 6]))
    }
}
