import FoundationEssentials
import NukeCore
import NukeTestSupport
import Testing

@Suite("The watch over a decode")
struct DecodingWatchTests {
    private func context(seconds: Double) -> ImageDecodingContext {
        var context = ImageDecodingContext(request: ImageRequest(url: nil), data: Data())
        context.limits.seconds = seconds
        return context
    }

    @Test("no seconds are over at once, as a typed error of the codec")
    func noTime() {
        let watch = DecodingWatch(context(seconds: 0), codec: "Pix")
        let error = #expect(throws: ImageDecodingError.self) { try watch.check() }
        #expect(error == .limitExceeded("", codec: "Pix"))
    }

    @Test("time that passes while it is stopped does not count, however often it is stopped")
    func stopped() {
        var watch = DecodingWatch(limits: context(seconds: 3600).limits, codec: "Pix")
        watch.stop()
        watch.stop()
        watch.resume()
        watch.resume()
        #expect(throws: Never.self) { try watch.check() }
    }

    @Test("no limit is none")
    func unlimited() {
        for seconds in [Double.infinity, .greatestFiniteMagnitude] {
            let watch = DecodingWatch(limits: context(seconds: seconds).limits, codec: "Pix")
            #expect(throws: Never.self) { try watch.check() }
        }
    }

    @Test("a set flag ends a decode at the next 64th row")
    func cancelled() {
        let context = context(seconds: 3600)
        let watch = DecodingWatch(context, codec: "Pix")
        context.cancellation.cancel()
        #expect(throws: Never.self) { try watch.check(row: 63) }
        #expect(throws: ImageDecodingError.cancelled) { try watch.check(row: 64) }
    }
}
