internal import Glibc

/// The C library's functions of real numbers, which are all that pixel code needs of it.
enum RealFunctions {
    static func sin(_ x: Double) -> Double { Glibc.sin(x) }
    static func cos(_ x: Double) -> Double { Glibc.cos(x) }
    static func asin(_ x: Double) -> Double { Glibc.asin(x) }
    static func pow(_ x: Double, _ y: Double) -> Double { Glibc.pow(x, y) }
    static func exp2(_ x: Double) -> Double { Glibc.exp2(x) }
}
