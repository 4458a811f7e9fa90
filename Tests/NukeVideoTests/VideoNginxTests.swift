import FoundationEssentials
import NukeCore
import NukeCurlLoader
import NukeTestSupport
import NukeVideo
import Testing

#if canImport(Glibc)
    import Glibc
#endif

private let nginxPath = ["/usr/sbin/nginx", "/usr/bin/nginx"].first { FileManager.default.fileExists(atPath: $0) }

/// A real server, whose log tells what it sent.
@Suite(
    "Videos from nginx", .needsLibrary, .enabled(if: nginxPath != nil, "nginx is not installed"),
    .timeLimit(.minutes(5)))
struct VideoNginxTests {
    /// Writes a file with a hole in place of its zeros.
    private func write(_ file: LargeVideo.Parts, to path: String) throws {
        try file.head.write(to: URL(filePath: path))
        #expect(truncate(path, file.count - file.tail.count) == 0)
        let descriptor = open(path, O_WRONLY | O_APPEND)
        defer { close(descriptor) }
        try #require(descriptor >= 0)
        let written = unsafe file.tail.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
        #expect(written == file.tail.count)
    }

    private func configuration(_ folder: String, _ port: Int) -> String {
        """
        \(getuid() == 0 ? "user root;" : "")
        worker_processes 1; daemon off; pid \(folder)/pid; error_log \(folder)/error.log warn;
        events { worker_connections 64; }
        http {
            log_format sent "$uri $status $bytes_sent"; access_log \(folder)/access.log sent;
            client_body_temp_path \(folder)/t1; proxy_temp_path \(folder)/t2; fastcgi_temp_path \(folder)/t3;
            uwsgi_temp_path \(folder)/t4; scgi_temp_path \(folder)/t5;
            types { video/mp4 mp4; }
            sendfile on;
            server { listen 127.0.0.1:\(port); root \(folder)/www; }
        }
        """
    }

    @Test(
        "The poster of a video of 200 MB takes at most 2 MB with the index in front, 4 MB by ranges with it at the end")
    func large() async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.file("www"), withIntermediateDirectories: true)
        let small = try VideoUnderTest.data("gen-h264-moov-end.mp4")
        for (name, isInFront) in [("front", true), ("end", false)] {
            let file = LargeVideo.make(
                small, count: 200 << 20, indexPadding: 300 << 10, isIndexInFront: isInFront)
            try write(file, to: folder.file("www/\(name).mp4"))
        }
        let port = Int.random(in: 20_000..<32_000)
        let config = folder.file("nginx.conf")
        try Data(configuration(folder.path, port).utf8).write(to: URL(filePath: config))
        let nginx = try ChildProcess(#require(nginxPath), ["-e", folder.file("error.log"), "-c", config])
        await waitUntil { FileManager.default.fileExists(atPath: folder.file("pid")) }

        let registry = ImageDecoderRegistry()
        registry.register(.mp4)
        let loaders = DataLoaderRegistry()
        loaders.register(CurlLoader(), for: ["http"])
        let pipeline = ImagePipeline {
            $0.decoderRegistry = registry
            $0.dataLoaderRegistry = loaders
            $0.imageCache = nil
        }
        // Once for the libraries to be opened.
        try small.write(to: URL(filePath: folder.file("www/small.mp4")))
        for name in ["small", "front", "end"] {
            let url = URL(string: "http://127.0.0.1:\(port)/\(name).mp4")
            let container = try await pipeline.imageTask(with: ImageRequest(url: url)).response.container
            #expect(VideoUnderTest.isNear(VideoUnderTest.mean(container.image), [113.7, 107.7, 117.4], 4))
        }
        nginx.signal(SIGQUIT)
        _ = await nginx.outcome()
        var sent = ["/front.mp4": 0, "/end.mp4": 0]
        for line in String(decoding: try folder.data("access.log"), as: UTF8.self).split(separator: "\n") {
            let fields = line.split(separator: " ")
            sent[String(fields[0]), default: 0] += Int(fields[2]) ?? 0
        }
        #expect(sent["/front.mp4"] ?? 0 > 0 && sent["/front.mp4"] ?? 0 <= 2 << 20, "\(sent)")
        #expect(sent["/end.mp4"] ?? 0 > 0 && sent["/end.mp4"] ?? 0 <= 4 << 20, "\(sent)")
    }
}
