import FoundationEssentials
import Glibc
import NukeCore
import NukeCurlLoader
import NukeTestSupport
import Testing

// In processes of their own, since other tests open files and start threads meanwhile.
@Suite("CurlLoader: resources", .timeLimit(.minutes(5)))
struct CurlLoaderResourceTests {
    // That libcurl is mapped by the first load and not before is seen by the check of linkage, in programs without tests.
    @Test("libcurl is opened by the first load, which starts a thread, not before")
    func openedAtFirstUse() async {
        await #expect(processExitsWith: .success) {
            let loader = CurlLoader.direct()
            #expect(ThisProcess.threadCount("nuke-curl") == 0)
            #expect(await Load.run(loader, "http://127.0.0.1:1/").error?.code == .cannotConnect)
            #expect(ThisProcess.maps("libcurl.so"))
            withExtendedLifetime(loader) { #expect(ThisProcess.threadCount("nuke-curl") == 1) }
        }
    }

    @Test("released loaders leave no thread, no file and no connection behind")
    func nothingIsLeftBehind() async {
        await #expect(processExitsWith: .success) {
            let server = try ScriptedServer { request in
                request.target == "/stall" ? [.stall] : [.response(body: [1, 2, 3])]
            }
            var counts: [Int] = []
            for _ in 0..<4 {
                var loads: [PendingLoad] = []
                do {
                    let loaders = (0..<3).map { _ in CurlLoader.direct() }
                    for loader in loaders {
                        for _ in 0..<10 { #expect(await Load.run(loader, server.url("/")).error == nil) }
                        loads.append(PendingLoad())
                        loads.last?.start(loader, server.url("/stall"))
                    }
                    withExtendedLifetime(loaders) { #expect(ThisProcess.threadCount("nuke-curl") == 3) }
                }
                for load in loads { #expect(await load.end().error?.code == .cancelled) }
                await server.connectionsAreClosed()
                while ThisProcess.threadCount("nuke-curl") > 0 { await Task.yield() }
                counts.append(ThisProcess.openFileCount)
            }
            // The first round opened what libcurl and its libraries keep.
            #expect(counts[1...].allSatisfy { $0 == counts[0] }, "\(counts)")
        }
    }
}

/// What /proc tells of this process.
private enum ThisProcess {
    static func maps(_ name: String) -> Bool { read("maps").contains(name) }

    static var openFileCount: Int { entries("fd").count }

    static func threadCount(_ name: String) -> Int {
        entries("task").filter { read("task/\($0)/comm").hasPrefix(name) }.count
    }

    /// Files of /proc have no size, by which Data would go.
    private static func read(_ path: String) -> String {
        guard let file = fopen("/proc/self/" + path, "r") else { return "" }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = fread(&block, 1, block.count, file), count > 0 { bytes += block[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func entries(_ path: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/" + path)) ?? []
    }
}
