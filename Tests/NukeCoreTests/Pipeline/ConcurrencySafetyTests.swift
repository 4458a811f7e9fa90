import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

/// What holds when everything is used from many threads at once.
@Suite(.serialized, .timeLimit(.minutes(5)), .holdsCodecThreads)
struct ConcurrencySafetyTests {
    private func url(_ index: Int) -> URL? { URL(string: "http://test.com/\(index).jpeg") }

    @Test("1000 random loads, cancellations and priorities over 50 URLs: each task ends exactly once [CON-01]")
    func everythingAtOnce() async {
        let delegate = RecordingDelegate()
        let images = ImageCache(costLimit: 640 * 480 * 4 * 20)
        images.entryCostLimit = 1
        let test = TestPipeline(hasDataCache: true, delegate: delegate) { $0.imageCache = images }
        let registry = test.pipeline.configuration.decoderRegistry
        let prefetcher = ImagePrefetcher(pipeline: test.pipeline)
        let tasks = Locked<[(task: ImageTask, isCancelled: Bool)]>([])
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<125 {
                        let request = ImageRequest(
                            url: url(.random(in: 0..<50)), processors: Bool.random() ? [MockProcessor("1")] : [])
                        let task = test.pipeline.imageTask(with: request)
                        let choice = Int.random(in: 0..<5)
                        switch choice {
                        case 0: task.cancel()
                        case 1: task.priority = .allCases.randomElement() ?? .high
                        case 2: prefetcher.startPrefetching(with: [request])
                        case 3:
                            prefetcher.stopPrefetching(with: [request])
                            registry.unregister(registry.register { _ in nil })
                        default:
                            images[ImageCacheKey(request: request)] = nil
                            test.dataCache?.removeData(for: request.dataKey)
                            images.trim(toCount: 10)
                        }
                        tasks.withLock { $0.append((task, choice == 0)) }
                    }
                }
            }
        }
        for (task, isCancelled) in tasks.withLock({ $0 }) {
            do {
                _ = try await task.response
            } catch {
                #expect(isCancelled, "\(error)")
            }
        }
        prefetcher.stopPrefetching()
        await waitUntil { test.pipeline.taskCount == 0 }
        var endings: [UInt64: Int] = [:]
        for record in delegate.records {
            switch record {
            case .succeeded(let id), .failed(let id, _): endings[id, default: 0] += 1
            default: break
            }
        }
        let all = tasks.withLock { $0.map(\.task) }
        #expect(all.count == 1000 && all.count { endings[$0.taskId] != 1 } == 0)
    }

    @Test("two pipelines of one configuration share its queues [CON-02]")
    func sharedConfiguration() async throws {
        let loader = MockDataLoader()
        loader.isSuspended = true
        var configuration = TestPipeline().pipeline.configuration
        configuration.dataLoader = loader
        configuration.imageCache = nil
        configuration.dataLoadingQueue = TaskQueue(maxConcurrentOperationCount: 2)
        let pipelines = [ImagePipeline(configuration: configuration), ImagePipeline(configuration: configuration)]
        let tasks = (0..<8).map { pipelines[$0 % 2].imageTask(with: ImageRequest(url: url($0))) }
        let queue = configuration.dataLoadingQueue
        await waitUntil { queue.runningCount == 2 && queue.pendingCount == 6 && loader.loadCount == 2 }
        loader.isSuspended = false
        for task in tasks { _ = try await task.response }
        #expect(loader.loadCount == 8)
    }

    @Test("pipelines coordinate on one actor; decoding, processing and encoding run elsewhere [CON-03]")
    func oneActor() async throws {
        let threads = Locked<[String]>([])
        @Sendable func note(_ work: String) {
            let name = (try? File.read("/proc/thread-self/comm")).map { String(decoding: $0, as: UTF8.self) } ?? ""
            threads.withLock { $0.append("\(work) \(name.prefix(10))") }
        }
        let events = Locked(0)
        for _ in 0..<2 {
            let delegate = RecordingDelegate(onEvent: { _, _, _ in
                ImagePipelineActor.shared.preconditionIsolated()
                events.withLock { $0 += 1 }
            })
            let decoder = MockImageDecoder { note("decode") }
            let test = TestPipeline(decoder: decoder, hasDataCache: true, delegate: delegate) { configuration in
                configuration.dataCachePolicy = .storeEncodedImages
                configuration.makeImageEncoder = { _ in
                    MockEncoder { _ in
                        note("encode")
                        return Data([1])
                    }
                }
            }
            let processor = MockProcessor("1") { note("process") }
            _ = try await test.pipeline.image(for: ImageRequest(url: url(0), processors: [processor]))
            await test.pipeline.finishDataStores()
        }
        let expected = ["decode nuke-codec", "process nuke-codec", "encode nuke-codec"]
        #expect(threads.withLock { $0.sorted() } == (expected + expected).sorted())
        #expect(events.withLock { $0 } >= 2)
    }

    @Test("closures of a registry may change the registry: no lock is held [CON-04]")
    func registryReentrancy() {
        let registry = ImageDecoderRegistry()
        registry.register { [weak registry] _ in
            guard let registry else { return nil }
            registry.unregister(registry.register { _ in nil })
            registry.register(.mock(.png))
            return registry.formats.count == 1 ? MockImageDecoder() : nil
        }
        let context = ImageDecodingContext(request: ImageRequest(url: nil), data: Data([1]))
        #expect(registry.decoder(for: context) is MockImageDecoder)
    }

    @Test("calls from outside return while the actor is busy, and take effect on it [CON-05]")
    func hops() async throws {
        let test = TestPipeline()
        let prefetcher = ImagePrefetcher(pipeline: test.pipeline)
        let (isBlocked, gate) = (AsyncGate(), ThreadGate())
        let blocking = Task { @ImagePipelineActor in
            isBlocked.open()
            gate.wait()
        }
        await isBlocked.wait()
        let tasks = (0..<2).map { test.pipeline.imageTask(with: ImageRequest(url: url($0))) }
        tasks[0].priority = .veryHigh
        tasks[1].cancel()
        prefetcher.startPrefetching(with: [ImageRequest(url: url(2))])
        prefetcher.priority = .low
        #expect(test.loader.loadCount == 0)
        gate.open()
        await blocking.value
        _ = try await tasks[0].response
        await #expect(throws: ImagePipeline.Error.self) { try await tasks[1].response }
        await waitUntil { test.loader.loadCount == 2 }
        #expect(Set(test.loader.transfers.map(\.request.url)) == [url(0), url(2)])
    }

    @Test("every task ends, also if its pipeline is invalidated meanwhile [CON-06]")
    func invalidation() async {
        for _ in 0..<20 {
            let test = TestPipeline()
            test.loader.isSuspended = true
            let endings = await withTaskGroup(of: Bool.self) { group in
                for index in 0..<20 {
                    group.addTask {
                        if index == 10 { test.pipeline.invalidate() }
                        let task = test.pipeline.imageTask(with: ImageRequest(url: url(index)))
                        let hasImage = (try? await task.response) != nil
                        for await _ in task.events {}
                        return hasImage
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(endings == Array(repeating: false, count: 20))
        }
    }

    @Test("every task ends, also if its pipeline is let go meanwhile [CON-06]")
    func release() async throws {
        let loader = MockDataLoader()
        loader.isSuspended = true
        let tasks: [ImageTask]
        do {
            let test = TestPipeline { $0.dataLoader = loader }
            tasks = (0..<20).map { test.pipeline.imageTask(with: ImageRequest(url: url($0))) }
        }
        await waitUntil { loader.loadCount > 0 }
        loader.isSuspended = false
        for task in tasks { _ = try await task.response }
    }

    @Test("the shared pipeline can be read and set from any thread [CON-07]")
    func sharedPipeline() async {
        await #expect(processExitsWith: .success) {
            let pipelines = (0..<4).map { _ in ImagePipeline { $0.imageCache = nil } }
            ImagePipeline.shared = pipelines[0]
            await withTaskGroup(of: Bool.self) { group in
                for index in 0..<1000 {
                    group.addTask {
                        ImagePipeline.shared = pipelines[index % 4]
                        let current = ImagePipeline.shared
                        return pipelines.contains { $0 === current }
                    }
                }
                for await isKnown in group { #expect(isKnown) }
            }
        }
    }

    @Test("requests, responses and containers cross threads, with what users attach [CON-08]")
    func sendability() async {
        func requireSendable(_ type: (some Sendable).Type) {}
        requireSendable(ImageRequest.self)
        requireSendable(ImageResponse.self)
        requireSendable(ImageContainer.self)
        requireSendable(ImagePipeline.Error.self)
        requireSendable(ImageDecodingContext.self)
        requireSendable(ImageEncodingContext.self)
        requireSendable(ImageProcessingContext.self)
        let container = ImageContainer(image: .mock(), userInfo: ["number": 5])
        let response = ImageResponse(container: container, request: ImageRequest(url: url(1)))
        let copy = await Task.detached {
            var copy = response
            copy.container.userInfo["number"] = 6
            return copy
        }.value
        #expect(copy.container.userInfo["number"] as? Int == 6 && copy.image === response.image)
        #expect(response.container.userInfo["number"] as? Int == 5 && copy.request.url == response.request.url)
    }
}
