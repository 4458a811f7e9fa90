import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)))
struct RecipeTests {
    let low = ImageRequest(url: URL(string: "http://test.com/low"))
    let high = ImageRequest(url: URL(string: "http://test.com/high"))
    let failure = DataLoadingError(.connectionLost, reason: "lost")

    /// A pipeline whose transfers wait for the test to end them.
    ///
    /// Without a data cache, in which loads would first look, in an order of their own.
    private func suspended(hasDataCache: Bool = false) -> TestPipeline {
        let test = TestPipeline(hasDataCache: hasDataCache)
        test.loader.isSuspended = true
        return test
    }

    private func finish(_ test: TestPipeline, _ index: Int, error: (any Error)? = nil) {
        let transfer = test.loader.transfers[index]
        if error == nil {
            transfer.send(Data([1]), DataResponse(url: transfer.request.url, statusCode: 200, expectedContentLength: 1))
        }
        transfer.finish(error)
    }

    private func code(_ error: ImagePipeline.Error?) -> DataLoadingError.Code? {
        (error?.dataLoadingError as? DataLoadingError)?.code
    }

    private func isCancelled(_ error: ImagePipeline.Error?) -> Bool {
        if case .cancelled? = error { true } else { false }
    }

    // MARK: One image

    @Test("one image is its previews and the image")
    func oneImage() async throws {
        let test = TestPipeline()
        test.imageCache[ImageCacheKey(request: low)] = ImageContainer(image: .mock(), isPreview: true)
        var previews: [Bool] = []
        for try await response in test.pipeline.images(with: low) { previews.append(response.isPreview) }
        #expect(previews == [true, false])
    }

    @Test("each iteration loads anew, and none without one")
    func iterations() async throws {
        let test = TestPipeline { $0.imageCache = nil }
        let sequence = test.pipeline.images(with: low)
        #expect(test.loader.loadCount == 0)
        _ = try await sequence.response()
        _ = try await sequence.response()
        #expect(test.loader.loadCount == 2)
    }

    @Test("cancelling the task that iterates ends the loads, with cancelled")
    func cancellation() async {
        let test = suspended()
        let sequence = test.pipeline.images(lowResolution: low, highResolution: high)
        let task = Task { () -> ImagePipeline.Error? in
            do throws(ImagePipeline.Error) {
                for try await _ in sequence {}
                return nil
            } catch {
                return error
            }
        }
        await waitUntil { test.loader.loadCount == 2 }
        task.cancel()
        #expect(isCancelled(await task.value))
        await waitUntil { test.loader.cancelCount == 2 && test.pipeline.taskCount == 0 }
    }

    @Test("leaving the loop ends the loads")
    func leaving() async throws {
        let test = suspended()
        let iterating = Task {
            for try await _ in test.pipeline.images(lowResolution: low, highResolution: high) { break }
        }
        await waitUntil { test.loader.loadCount == 2 }
        finish(test, 0)
        try await iterating.value
        await waitUntil { test.loader.transfers[1].isCancelled && test.pipeline.taskCount == 0 }
    }

    @Test("after its end a sequence gives nil, cancelled or not")
    func afterTheEnd() async throws {
        let test = TestPipeline()
        var iterator = test.pipeline.images(with: low).makeAsyncIterator()
        #expect(try await iterator.next() != nil)
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
    }

    // MARK: Low, then high

    @Test("low resolution is asked for first, and shown until the high one is there")
    func lowThenHigh() async throws {
        let test = suspended()
        var iterator = test.pipeline.images(lowResolution: low, highResolution: high).makeAsyncIterator()
        await waitUntil { test.loader.loadCount == 2 }
        #expect(test.loader.transfers.map(\.request.url) == [low.url, high.url])
        finish(test, 0)
        #expect(try await iterator.next()?.request.url == low.url)
        finish(test, 1)
        #expect(try await iterator.next()?.request.url == high.url)
        #expect(try await iterator.next() == nil)
    }

    @Test("the high resolution there first, the low one is cancelled")
    func highFirst() async throws {
        let test = suspended()
        var iterator = test.pipeline.images(lowResolution: low, highResolution: high).makeAsyncIterator()
        await waitUntil { test.loader.loadCount == 2 }
        finish(test, 1)
        #expect(try await iterator.next()?.request.url == high.url)
        #expect(try await iterator.next() == nil)
        await waitUntil { test.loader.transfers[0].isCancelled }
    }

    @Test("a low resolution that fails is passed over")
    func lowFails() async throws {
        let test = suspended()
        var iterator = test.pipeline.images(lowResolution: low, highResolution: high).makeAsyncIterator()
        await waitUntil { test.loader.loadCount == 2 }
        finish(test, 0, error: failure)
        await waitUntil { test.pipeline.taskCount == 1 }
        finish(test, 1)
        #expect(try await iterator.next()?.request.url == high.url)
    }

    @Test("when the high resolution fails, the low one is still given, then the error")
    func highFails() async throws {
        let test = suspended()
        var iterator = test.pipeline.images(lowResolution: low, highResolution: high).makeAsyncIterator()
        await waitUntil { test.loader.loadCount == 2 }
        finish(test, 1, error: failure)
        await waitUntil { test.pipeline.taskCount == 1 }
        finish(test, 0)
        #expect(try await iterator.next()?.request.url == low.url)
        let error = await #expect(throws: ImagePipeline.Error.self) { try await iterator.next() }
        #expect(code(error) == .connectionLost)
    }

    /// A sequence made by hand: a preview behind one gate, the image behind another.
    private func manual(_ request: ImageRequest, preview: AsyncGate, image: AsyncGate) -> ImageSequence {
        ImageSequence { yield throws(ImagePipeline.Error) in
            await preview.wait()
            yield(.init(container: ImageContainer(image: .mock(), isPreview: true), request: request))
            await image.wait()
            yield(.init(container: ImageContainer(image: .mock()), request: request))
        }
    }

    @Test("a preview of the better one never takes the place of a complete picture")
    func previewsRankLower() async throws {
        let (lowPreview, lowImage, highPreview, highImage) = (AsyncGate(), AsyncGate(), AsyncGate(), AsyncGate())
        let sequence = ImageSequence.improving([
            manual(low, preview: lowPreview, image: lowImage), manual(high, preview: highPreview, image: highImage),
        ])
        var iterator = sequence.makeAsyncIterator()
        lowPreview.open()
        let first = try await iterator.next()
        #expect(first?.isPreview == true && first?.request.url == low.url)
        lowImage.open()
        let second = try await iterator.next()
        #expect(second?.isPreview == false && second?.request.url == low.url)
        highPreview.open()
        highImage.open()
        let third = try await iterator.next()
        #expect(third?.isPreview == false && third?.request.url == high.url)
        #expect(try await iterator.next() == nil)
    }

    @Test("of three, the one in the middle ends the worst")
    func three() async throws {
        let test = suspended()
        let middle = ImageRequest(url: URL(string: "http://test.com/middle"))
        let sequence = ImageSequence.improving([low, middle, high].map { test.pipeline.images(with: $0) })
        var iterator = sequence.makeAsyncIterator()
        await waitUntil { test.loader.loadCount == 3 }
        finish(test, 1)
        #expect(try await iterator.next()?.request.url == middle.url)
        await waitUntil { test.loader.transfers[0].isCancelled }
        #expect(!test.loader.transfers[2].isCancelled)
        finish(test, 2)
        #expect(try await iterator.next()?.request.url == high.url)
        #expect(try await iterator.next() == nil)
    }

    // MARK: Stale, then fresh

    @Test("what is in a cache comes first, and then the image loaded anew", arguments: ["memory", "disk", "nothing"])
    func staleThenFresh(cache: String) async throws {
        let test = suspended(hasDataCache: true)
        if cache == "memory" { test.imageCache[ImageCacheKey(request: low)] = ImageContainer(image: .mock()) }
        if cache == "disk" { test.dataCache?.storeData(Data([1]), for: low.dataKey) }
        var iterator = test.pipeline.images(staleThenFresh: low).makeAsyncIterator()
        await waitUntil { test.loader.loadCount == 1 }
        if cache != "nothing" {
            let stale = try await iterator.next()
            #expect(stale?.cacheType == (cache == "memory" ? .memory : .disk))
        }
        // Until the look into the caches is over: it could find what the load has just stored there.
        await waitUntil { test.pipeline.taskCount == 1 }
        finish(test, 0)
        let fresh = try await iterator.next()
        #expect(fresh != nil && fresh?.cacheType == nil)
        #expect(try await iterator.next() == nil)
        #expect(test.imageCache[ImageCacheKey(request: low)]?.image === fresh?.image)
    }

    @Test("without a network the stale image is given, then the error")
    func staleOnly() async throws {
        let test = TestPipeline()
        test.loader.answerEverything(with: .init(chunks: [], error: failure))
        test.imageCache[ImageCacheKey(request: low)] = ImageContainer(image: .mock())
        var iterator = test.pipeline.images(staleThenFresh: low).makeAsyncIterator()
        #expect(try await iterator.next()?.cacheType == .memory)
        let error = await #expect(throws: ImagePipeline.Error.self) { try await iterator.next() }
        #expect(code(error) == .connectionLost)
    }

    // MARK: First available

    @Test("the first that can be loaded is given, and none after it is asked for")
    func firstAvailable() async throws {
        let test = TestPipeline()
        test.loader.answer("http://test.com/low", with: .init(chunks: [], error: failure))
        let third = ImageRequest(url: URL(string: "http://test.com/third"))
        let response = try await test.pipeline.firstAvailableImage(of: [low, high, third]).response()
        #expect(response.request.url == high.url)
        #expect(test.loader.transfers.map(\.request.url) == [low.url, high.url])
    }

    @Test("when none can be loaded, the one error has all errors in order [PITFALLS 68]")
    func noneAvailable() async throws {
        let test = TestPipeline()
        test.loader.answer("http://test.com/low", with: .init(chunks: [], error: failure))
        test.loader.answer("http://test.com/high", with: .init(chunks: []))
        let error = await #expect(throws: ImagePipeline.Error.self) {
            try await test.pipeline.firstAvailableImage(of: [low, high]).response()
        }
        let errors = try #require(error?.dataLoadingError as? AlternativesError).errors
        #expect(errors.count == 2 && code(errors.first) == .connectionLost)
        guard case .dataIsEmpty? = errors.last else {
            Issue.record("not empty: \(errors)")
            return
        }
        let single = await #expect(throws: ImagePipeline.Error.self) {
            try await test.pipeline.firstAvailableImage(of: [low]).response()
        }
        #expect(code(single) == .connectionLost)
    }

    @Test("cancelled, the alternatives that are left are not tried")
    func alternativesCancelled() async {
        let test = suspended()
        let sequence = test.pipeline.firstAvailableImage(of: [low, high])
        let task = Task { try await sequence.response() }
        await waitUntil { test.loader.loadCount == 1 }
        task.cancel()
        guard case .failure(let error) = await task.result else {
            Issue.record("not cancelled")
            return
        }
        #expect(isCancelled(error as? ImagePipeline.Error))
        await waitUntil { test.pipeline.taskCount == 0 }
        #expect(test.loader.loadCount == 1 && test.loader.cancelCount == 1)
    }

    @Test("of nothing, the request is missing")
    func nothing() async {
        for sequence in [ImageSequence.firstAvailable([]), .improving([])] {
            let error = await #expect(throws: ImagePipeline.Error.self) { try await sequence.response() }
            guard case .imageRequestMissing? = error else {
                Issue.record("not missing: \(String(describing: error))")
                return
            }
        }
    }

    // MARK: Several at once

    @Test("several images are given as they come, failures among them")
    func several() async throws {
        let test = suspended()
        var iterator = test.pipeline.results(for: [low, high]).makeAsyncIterator()
        await waitUntil { test.loader.loadCount == 2 }
        #expect(test.loader.transfers.map(\.request.url) == [low.url, high.url])
        finish(test, 1)
        let first = await iterator.next()
        #expect(first?.index == 1 && (try? first?.result.get()) != nil)
        finish(test, 0, error: failure)
        let second = await iterator.next()
        #expect(second?.index == 0 && (try? second?.result.get()) == nil)
        #expect(await iterator.next() == nil)
    }

    @Test("several images in the order of their requests")
    func severalInOrder() async throws {
        let test = TestPipeline()
        test.loader.answer("http://test.com/low", with: .init(chunks: [], error: failure))
        let results = await test.pipeline.results(for: [high, low, high]).inOrder()
        #expect(results.map { (try? $0.get())?.request.url } == [high.url, nil, high.url])
        #expect(await test.pipeline.results(for: []).inOrder().isEmpty)
    }

    @Test("cancelled, all loads of several end")
    func severalCancelled() async {
        let test = suspended()
        let task = Task { await test.pipeline.results(for: [low, high]).inOrder() }
        await waitUntil { test.loader.loadCount == 2 }
        task.cancel()
        let results = await task.value
        #expect(results.count == 2 && !results.contains { (try? $0.get()) != nil })
        await waitUntil { test.loader.cancelCount == 2 && test.pipeline.taskCount == 0 }
    }
}
