import FoundationEssentials
import NukeCore
import NukeDecodersWebP
import NukeTestSupport
import Testing

/// Frames, composed in order and out of order.
@Suite("WebP animations", .needsLibrary, .timeLimit(.minutes(5)))
struct WebPAnimationTests {
    private func animation(_ data: Data) throws -> ImageAnimation {
        try #require(try WebPUnderTest.decode(data).animation)
    }

    private func frames(_ data: Data, order: [Int]? = nil) async throws -> [Int: [UInt8]] {
        let animation = try animation(data)
        var frames: [Int: [UInt8]] = [:]
        for index in order ?? Array(0..<animation.frameCount) {
            let bytes = try await animation.frame(at: index).byteArray
            if let before = frames[index] { #expect(before == bytes, "frame \(index) came out another way") }
            frames[index] = bytes
        }
        return frames
    }

    /// Frames of every kind on a canvas of 16x12: over and in place, cleared and left, covering and not.
    private func mixed() throws -> AnimationFile {
        func flat(_ pixel: [UInt8], _ width: Int, _ height: Int) throws -> Bitmap {
            try Picture.flat(pixel, width: width, height: height)
        }
        return AnimationFile(
            width: 16, height: 12,
            frames: [
                .init(image: try Picture.photo(width: 16, height: 12)),
                .init(x: 2, y: 2, image: try Picture.translucent(width: 7, height: 5), isDisposed: true),
                .init(x: 8, y: 4, image: try Picture.translucent(width: 8, height: 8), isBlended: false),
                .init(x: 0, y: 6, image: try flat([0, 100, 0, 128], 5, 5), isBlended: true),
                .init(image: try Picture.translucent(width: 16, height: 12), isBlended: false, isDisposed: true),
                .init(x: 4, y: 4, image: try flat([9, 8, 7, 255], 4, 4), isDisposed: true),
                .init(x: 6, y: 6, image: try Picture.translucent(width: 10, height: 6)),
                .init(image: try Picture.translucent(width: 16, height: 12)),
                .init(x: 10, y: 0, image: try flat([0, 0, 60, 60], 3, 9), isDisposed: true),
                .init(x: 2, y: 0, image: try Picture.photo(width: 3, height: 3)),
            ])
    }

    @Test("Frames are composed as the specification has it, sample by sample [row 166]")
    func composed() async throws {
        let file = try mixed()
        let frames = try await frames(file.data())
        for (index, expected) in file.expected().enumerated() { #expect(frames[index] == expected, "frame \(index)") }
    }

    @Test("In any order the pixels are those of coming to them in order [row 157]")
    func randomAccess() async throws {
        let files = [
            try mixed().data(), try Fixture.data("webp/gen-anim-offsets.webp"),
            try Fixture.data("webp/gen-anim-shortdelays.webp"),
        ]
        for data in files {
            let inOrder = try await frames(data)
            let count = inOrder.count
            var numbers = SeededNumbers(seed: 7)
            let random = (0..<60).map { _ in Int.random(in: 0..<count, using: &numbers) }
            for order in [[3, 1, 2], Array((0..<count).reversed()), [count - 1, count - 1, 0, 0], random] {
                for (index, bytes) in try await frames(data, order: order) {
                    #expect(bytes == inOrder[index], "frame \(index) of \(order)")
                }
            }
        }
    }

    @Test("A frame put in place, or cleared, changes its own rectangle only, and is cleared before the next [row 158]")
    func rectangles() async throws {
        let red = try Picture.flat([255, 0, 0, 255], width: 8, height: 8)
        let hole = try Picture.flat([0, 0, 0, 0], width: 2, height: 2)
        let blue = try Picture.flat([0, 0, 255, 255], width: 2, height: 2)
        let file = AnimationFile(
            width: 8, height: 8,
            frames: [
                .init(image: red), .init(x: 2, y: 2, image: hole, isBlended: false),
                .init(x: 4, y: 4, image: blue, isDisposed: true), .init(x: 6, y: 0, image: blue),
            ])
        let animation = try animation(file.data())
        let images = [
            try await animation.frame(at: 1), try await animation.frame(at: 2), try await animation.frame(at: 3),
        ]
        #expect(images[0].pixel(2, 2) == [0, 0, 0, 0] && images[0].pixel(1, 1) == [255, 0, 0, 255])
        #expect(images[0].pixel(4, 2) == [255, 0, 0, 255] && images[0].pixel(2, 4) == [255, 0, 0, 255])
        // Disposal comes after the frame is shown, and leaves what is beside it.
        #expect(images[1].pixel(4, 4) == [0, 0, 255, 255])
        #expect(images[2].pixel(4, 4) == [0, 0, 0, 0] && images[2].pixel(5, 5) == [0, 0, 0, 0])
        #expect(images[2].pixel(6, 6) == [255, 0, 0, 255] && images[2].pixel(6, 0) == [0, 0, 255, 255])
        #expect(images.map(\.isOpaque) == [false, false, false])
    }

    @Test(
        "A frame without alpha is opaque, whatever the file's flag says; the flag makes nothing transparent [row 160]")
    func opaque() async throws {
        let lossy = WebPFile(try Picture.encode(Picture.photo(width: 20, height: 10), quality: 0.8))
        var still = lossy
        still.extend(width: 20, height: 10, flags: WebPFile.Flag.alpha)
        let image = try WebPUnderTest.decode(still.data).image
        #expect(image.isOpaque && image.pixel(3, 3)[3] == 255)
        #expect(try image.byteArray == WebPUnderTest.decode(lossy.data).image.byteArray)
        #expect(try WebPUnderTest.properties(still.data)?.hasAlpha == false)

        var file = try AnimationFile(
            width: 20, height: 10,
            frames: [
                .init(image: Picture.translucent(width: 20, height: 10)),
                .init(image: Picture.photo(width: 20, height: 10)),
                .init(x: 2, y: 2, image: Picture.translucent(width: 4, height: 4)),
            ]
        ).file()
        let place = file.chunks[3].contents.prefix(16)
        file.chunks[3].contents = place + lossy.picture.flatMap(\.bytes)
        let animation = try animation(file.data)
        let opaque = [
            try await animation.frame(at: 0).isOpaque, try await animation.frame(at: 1).isOpaque,
            try await animation.frame(at: 2).isOpaque,
        ]
        #expect(opaque == [false, true, true])
        #expect(try await animation.frame(at: 1).byteArray == image.byteArray)
    }

    @Test("A lossless picture that says it has no alpha is opaque, whatever its pixels say")
    func losslessWithoutAlpha() throws {
        var file = WebPFile(try Picture.encode(Picture.translucent(width: 20, height: 10)))
        let index = try #require(file.chunks.firstIndex { $0.type == "VP8L" })
        file.chunks = [file.chunks[index]]
        file.chunks[0].contents[4] &= ~0x10
        let image = try WebPUnderTest.decode(file.data).image
        #expect(image.isOpaque)
        #expect((0..<200).allSatisfy { image.pixel($0 % 20, $0 / 20)[3] == 255 })
    }

    @Test("Loop counts and durations are told as stored, and played: 0 is for ever, a count is a count")
    func playing() async throws {
        let image = try Picture.flat([1, 2, 3, 255], width: 4, height: 4)
        for (stored, played) in [(0, nil), (1, 1), (3, 3), (65_535, 65_535)] as [(Int, Int?)] {
            var file = AnimationFile(
                width: 4, height: 4,
                frames: [0, 10, 11, 65_536].map { AnimationFile.Frame(image: image, duration: $0) })
            file.loopCount = stored
            let data = try file.data()
            let properties = try #require(try WebPUnderTest.properties(data))
            #expect(properties.loopCount == stored && properties.frameCount == 4)
            #expect(properties.frameDurations == [0, 0.01, 0.011, 65.536])
            let animation = try animation(data)
            #expect(animation.playCount == played && animation.durations == [0.1, 0.1, 0.011, 65.536])
        }
    }

    @Test("The poster is the first frame on the whole canvas; one frame alone is no animation")
    func poster() async throws {
        let frame = AnimationFile.Frame(x: 4, y: 2, image: try Picture.photo(width: 3, height: 3))
        let one = try WebPUnderTest.decode(AnimationFile(width: 9, height: 7, frames: [frame]).data())
        #expect(one.animation == nil && one.image.size == ImageSize(width: 9, height: 7))
        #expect(one.image.pixel(0, 0) == [0, 0, 0, 0] && !one.image.isOpaque)
        let two = AnimationFile(width: 9, height: 7, frames: [frame, frame])
        let container = try WebPUnderTest.decode(two.data())
        #expect(container.image.byteArray == two.expected()[0])
        #expect(try await container.animation?.frame(at: 0).byteArray == two.expected()[0])
        #expect(
            try WebPUnderTest.properties(AnimationFile(width: 9, height: 7, frames: [frame]).data())?.loopCount == nil)
    }

    @Test("Frames are upright, and have the profile of the file")
    func turned() async throws {
        var file = try mixed().file()
        file.add(profile: WebPFile.profile())
        file.add(exif: WebPFile.exif(.right))
        let upright = try mixed().expected()
        let animation = try animation(file.data)
        for index in [5, 0] {
            let frame = try await animation.frame(at: index)
            #expect((frame.width, frame.height) == (12, 16))
            #expect(frame.colorSpace.iccProfile == Data(WebPFile.profile()))
            // Turned clockwise the stored top left is at the top right.
            #expect(frame.pixel(11, 0) == Array(upright[index][0..<4]))
            #expect(frame.pixel(0, 15) == Array(upright[index].suffix(4)))
        }
    }

    @Test("A damaged frame fails, and leaves those before and behind it as they are")
    func damagedFrame() async throws {
        var file = try mixed().file()
        let expected = try mixed().expected()
        // Behind the header of the picture of frame 3; frame 4 replaces all that was there.
        let contents = file.chunks[5].contents
        file.chunks[5].contents.replaceSubrange(29..<contents.count, with: contents[29...].map { _ in 0xFF })
        let animation = try animation(file.data)
        for index in [3, 2, 3, 4, 9, 0, 3, 1] {
            if index == 3 {
                let error = await #expect(throws: ImageDecodingError.self) { try await animation.frame(at: 3) }
                #expect(error?.code == .corruptData)
            } else {
                #expect(try await animation.frame(at: index).byteArray == expected[index], "frame \(index)")
            }
        }
    }

    @Test("A file that lacks a frame is an error, or by a lenient policy the frames that are whole")
    func cut() async throws {
        let data = try Fixture.data("webp/gen-anim-offsets.webp")
        let all = try await frames(data)
        let header = WebPFile(data).start(of: "ANMF") ?? 0
        var counts: Set<Int> = []
        for cut in stride(from: header + 40, to: data.count - 1, by: 97) {
            #expect(WebPUnderTest.errorCode(data.prefix(cut)) == .truncated)
            guard let container = try? WebPUnderTest.decode(data.prefix(cut), { $0.truncationPolicy = .lenient }) else {
                continue
            }
            #expect(container.userInfo[.isTruncatedKey] as? Bool == true)
            guard let animation = container.animation else { continue }
            counts.insert(animation.frameCount)
            let last = animation.frameCount - 1
            #expect(try await animation.frame(at: last).byteArray == all[last])
        }
        #expect(counts == [2, 3, 4, 5])
        let whole = try WebPUnderTest.decode(data) { $0.truncationPolicy = .lenient }
        #expect(whole.userInfo.isEmpty && whole.animation?.frameCount == 6)
    }
}
