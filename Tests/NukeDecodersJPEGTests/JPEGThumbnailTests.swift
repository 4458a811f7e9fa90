import FoundationEssentials
import NukeCore
import NukeDecodersJPEG
import NukeTestSupport
import Testing

/// Thumbnails, made from the picture or embedded.
@Suite("JPEG thumbnails", .timeLimit(.minutes(5)))
struct JPEGThumbnailTests {
    private typealias Options = ImageRequest.ThumbnailOptions

    private let registry: ImageDecoderRegistry = {
        let registry = ImageDecoderRegistry()
        registry.register(.jpeg)
        return registry
    }()

    /// A picture of red over blue with, in its EXIF data, an orientation and a thumbnail of green over black.
    private func file(
        width: Int, height: Int, orientation: Int = 1, thumbnail: (width: Int, height: Int)? = nil, damage: Int = 0
    ) throws -> Data {
        func encoded(_ width: Int, _ height: Int, _ upper: [Double]) throws -> Data {
            let lower: [Double] = upper[0] == 1 ? [0, 0, 1, 1] : [0, 0, 0, 1]
            let picture = try Picture.make(width: width, height: height) { _, y in y * 2 < height ? upper : lower }
            return try #require(ImageEncoders.JPEG().encode(picture))
        }
        var file = JPEGFile(try encoded(width, height, [1, 0, 0, 1]))
        let embedded = try thumbnail.map { try encoded($0.width, $0.height, [0, 1, 0, 1]).dropLast(damage) }
        file.segments.insert(JPEGFile.exif(orientation: orientation, thumbnail: embedded), at: 0)
        return file.data
    }

    private func isGreen(_ image: Bitmap) -> Bool {
        let mean = PixelStatistics(image).mean
        return mean[1] > 100 && mean[0] < 20 && mean[2] < 20
    }

    private func options(_ side: Double, ifAbsent: Bool = true, always: Bool = false) -> Options {
        var options = Options(maxPixelSize: side)
        options.createThumbnailFromImageIfAbsent = ifAbsent
        options.createThumbnailFromImageAlways = always
        return options
    }

    @Test("640x480 becomes 400x300 by its longer side, 533x400 and 400x300 by sizes [THM-02] [THM-03]")
    func sizes() throws {
        let data = try file(width: 640, height: 480)
        func size(_ options: Options) throws -> ImageSize {
            let small = try #require(options.makeThumbnail(with: data, registry: registry))
            #expect(try JPEGUnderTest.decode(data, thumbnail: options).image.size == small.size)
            return small.size
        }
        #expect(try size(.init(maxPixelSize: 400)) == ImageSize(width: 400, height: 300))
        let square = ImageSize(width: 400, height: 400)
        #expect(try size(.init(size: square, unit: .pixels)) == ImageSize(width: 533, height: 400))
        let fit = Options(size: square, unit: .pixels, contentMode: .aspectFit)
        #expect(try size(fit) == ImageSize(width: 400, height: 300))
        #expect(try size(.init(maxPixelSize: 2000)) == ImageSize(width: 640, height: 480))
    }

    @Test("Data that is no image makes no thumbnail [THM-06]")
    func invalid() throws {
        let options = Options(maxPixelSize: 100)
        #expect(options.makeThumbnail(with: Data(), registry: registry) == nil)
        #expect(options.makeThumbnail(with: Data("no image".utf8), registry: registry) == nil)
        #expect(options.makeThumbnail(with: Data([0xFF, 0xD8, 0xFF, 0xE0]), registry: registry) == nil)
        let cut = try file(width: 640, height: 480).dropLast(400)
        #expect(options.makeThumbnail(with: cut, registry: registry) == nil)
        #expect(options.makeThumbnail(with: try file(width: 64, height: 48), registry: ImageDecoderRegistry()) == nil)
    }

    @Test("A stored 480x640 that is to be turned fits 320x1000 as 320x240, turned once [THM-07] [THM-10]")
    func turned() throws {
        let data = try file(width: 480, height: 640, orientation: 6)
        let options = Options(size: ImageSize(width: 320, height: 1000), unit: .pixels, contentMode: .aspectFit)
        let container = try JPEGUnderTest.decode(data, thumbnail: options)
        #expect(container.image.size == ImageSize(width: 320, height: 240))
        #expect(container.originalSize == ImageSize(width: 640, height: 480))
        // Stored red over blue; turned clockwise, the red is on the right.
        #expect(container.image.pixel(300, 120)[0] > 200 && container.image.pixel(20, 120)[2] > 200)
        #expect(container.userInfo.isEmpty)
    }

    @Test(
        "Without transform the stored layout stays, and the container tells the orientation [THM-08]", arguments: 1...8)
    func untransformed(_ orientation: Int) throws {
        let data = try file(width: 480, height: 640, orientation: orientation)
        var options = Options(size: ImageSize(width: 320, height: 1000), unit: .pixels, contentMode: .aspectFit)
        options.createThumbnailWithTransform = false
        let container = try JPEGUnderTest.decode(data, thumbnail: options)
        #expect(container.image.size == ImageSize(width: 320, height: 427))
        #expect(container.originalSize == ImageSize(width: 480, height: 640))
        #expect(container.image.pixel(160, 20)[0] > 200 && container.image.pixel(160, 400)[2] > 200)
        let told = container.userInfo[.orientationKey] as? ImageOrientation
        #expect(told?.rawValue == (orientation == 1 ? nil : orientation))
    }

    @Test("The scale of the request is the thumbnail's, and points are that many pixels [THM-09]")
    func scale() throws {
        let data = try file(width: 640, height: 480)
        var context = JPEGUnderTest.context(data, thumbnail: Options(size: ImageSize(width: 100, height: 75)))
        context.request.scale = 2
        let image = try ImageDecoders.JPEG(context: context).decode(data).image
        #expect(image.scale == 2 && image.size == ImageSize(width: 200, height: 150))
        context.request.thumbnail = Options(maxPixelSize: 100)
        #expect(try ImageDecoders.JPEG(context: context).decode(data).image.size == ImageSize(width: 100, height: 75))
    }

    @Test("By default the thumbnail is made from the picture, whatever is embedded [THM-01]")
    func always() throws {
        let data = try file(width: 640, height: 480, thumbnail: (160, 120))
        #expect(try !isGreen(JPEGUnderTest.decode(data, thumbnail: .init(maxPixelSize: 80)).image))
        #expect(try !isGreen(JPEGUnderTest.decode(data).image))
    }

    @Test("Where it need not be made from the picture, the embedded one is taken, and never enlarged [THM-05]")
    func embedded() throws {
        let data = try file(width: 640, height: 480, thumbnail: (160, 120))
        for ifAbsent in [true, false] {
            let small = try JPEGUnderTest.decode(data, thumbnail: options(80, ifAbsent: ifAbsent))
            #expect(isGreen(small.image) && small.image.size == ImageSize(width: 80, height: 60))
            let large = try JPEGUnderTest.decode(data, thumbnail: options(400, ifAbsent: ifAbsent))
            #expect(isGreen(large.image) && large.image.size == ImageSize(width: 160, height: 120))
        }
    }

    @Test("The embedded one is turned as the picture is, once [row 122]")
    func embeddedTurned() throws {
        let data = try file(width: 640, height: 480, orientation: 6, thumbnail: (160, 120))
        let turned = try JPEGUnderTest.decode(data, thumbnail: options(160)).image
        #expect(turned.size == ImageSize(width: 120, height: 160))
        #expect(turned.pixel(110, 80)[1] > 200 && turned.pixel(10, 80)[1] < 50)
        var stored = options(160)
        stored.createThumbnailWithTransform = false
        let container = try JPEGUnderTest.decode(data, thumbnail: stored)
        #expect(container.image.size == ImageSize(width: 160, height: 120))
        #expect(container.userInfo[.orientationKey] as? ImageOrientation == .right)
    }

    @Test("Where none is embedded that decodes, it is made from the picture, unless that is not wanted either")
    func absent() throws {
        let without = try file(width: 640, height: 480)
        let damaged = try file(width: 640, height: 480, thumbnail: (160, 120), damage: 400)
        for data in [without, damaged] {
            let small = try JPEGUnderTest.decode(data, thumbnail: options(80)).image
            #expect(!isGreen(small) && small.size == ImageSize(width: 80, height: 60))
            let error = #expect(throws: ImageDecodingError.self) {
                try JPEGUnderTest.decode(data, thumbnail: options(80, ifAbsent: false))
            }
            #expect(error?.code == .unsupported)
            // What is always to be made from the picture needs none embedded.
            #expect(
                try JPEGUnderTest.decode(data, thumbnail: options(80, ifAbsent: false, always: true)).image.width == 80)
        }
    }

    @Test("A thumbnail within a thumbnail is not looked for")
    func nested() throws {
        let inner = try file(width: 64, height: 48, thumbnail: (16, 12))
        var file = JPEGFile(try file(width: 640, height: 480))
        file.segments[0] = JPEGFile.exif(orientation: 1, thumbnail: inner)
        let image = try JPEGUnderTest.decode(file.data, thumbnail: options(640)).image
        #expect(image.size == ImageSize(width: 64, height: 48) && !isGreen(image))
    }
}
