import Testing

@testable import NukeCore

@Suite(.timeLimit(.minutes(5)))
struct PlatformColorTests {
    @Test("the text of a border: colour in hex, with alpha if it is not full, components clamped; and width [PRC-37]")
    func borderText() {
        let red = PlatformColor(red: 1, green: 0, blue: 0)
        let border = ImageProcessingOptions.Border(color: red, width: 4, unit: .pixels)
        #expect("\(border)" == "Border(color: #FF0000, width: 4.0 pixels)")
        #expect("\(ImageProcessingOptions.Border(color: red))" == "Border(color: #FF0000, width: 1.0 pixels)")
        #expect(PlatformColor.black.withAlpha(0.5).hex == "#00000080")
        #expect(PlatformColor(red: -3, green: 7, blue: .nan, alpha: .infinity).hex == "#00FF00")
        #expect(PlatformColor(red: 0.5, green: 1 / 255, blue: 0.999, alpha: -1).hex == "#8001FF00")
    }

    @Test("colours with one text are equal, and what is drawn is what the text says [PRC-38]")
    func identity() {
        // Colours beyond sRGB are clamped when they are made: there are none without a form in sRGB.
        #expect(
            PlatformColor(red: 1.2, green: 0, blue: 0) == .red && PlatformColor(red: 1.2, green: 0, blue: 0).red == 1)
        let close = PlatformColor(red: 0.5001, green: 0, blue: 0)
        #expect(close == PlatformColor(red: 0.5, green: 0, blue: 0))
        #expect(close.red == 128.0 / 255)
        let borders = [PlatformColor.red, .green, .red.withAlpha(0.5), .clear].map {
            ImageProcessors.Circle(border: .init(color: $0)).identifier
        }
        #expect(Set(borders).count == 4)
    }

    @Test("grays have a text like any colour [PRC-39]")
    func grays() {
        #expect(PlatformColor.black.hex == "#000000" && PlatformColor.white.hex == "#FFFFFF")
        #expect(PlatformColor(white: 0.5).hex == "#808080" && "\(PlatformColor.gray)" == "#808080")
        #expect(PlatformColor.clear.hex == "#00000000")
        let circle = ImageProcessors.Circle(border: .init(color: .white, width: 2, unit: .pixels))
        #expect("\(circle)" == "Circle(border: Border(color: #FFFFFF, width: 2.0 pixels))")
    }

    @Test("hex is read back")
    func hex() {
        for color in [PlatformColor.orange, .purple.withAlpha(0.25), .clear, .brown] {
            #expect(PlatformColor(hex: color.hex) == color)
        }
        #expect(PlatformColor(hex: "#f80") == PlatformColor(hex: "FF8800"))
        for text in ["", "#", "#12", "#12345", "#1234567", "#GGGGGG", "#+1+1+1", "#１２３", "##123"] {
            #expect(PlatformColor(hex: text) == nil)
        }
    }
}
