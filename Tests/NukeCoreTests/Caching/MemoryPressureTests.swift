import FoundationEssentials
import Glibc
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.timeLimit(.minutes(5)))
struct MemoryPressureTests {
    private func filled(_ cache: ImageCache) -> ImageCache {
        for index in 0..<50 {
            cache[ImageCacheKey(key: "\(index)")] = ImageContainer(image: .mock(width: 1, height: 1))
        }
        return cache
    }

    // MARK: Caches

    @Test("a warning and worse empty a cache; a return to normal does not [MEM-23]")
    func emptied() {
        for (pressure, count) in [(MemoryPressure.normal, 50), (.warning, 0), (.critical, 0)] {
            let cache = filled(ImageCache())
            cache.respond(to: pressure)
            #expect(cache.totalCount == count && cache.totalCost == count * 4)
        }
    }

    @Test("moderate pressure trims to a tenth of both limits, the newest stay [MEM-24]")
    func trimmed() {
        let counted = filled(ImageCache(costLimit: .max, countLimit: 100))
        counted.respond(to: .moderate)
        #expect(counted.totalCount == 10)
        #expect(counted[ImageCacheKey(key: "49")] != nil && counted[ImageCacheKey(key: "39")] == nil)
        let costed = ImageCache(costLimit: 800)
        costed.entryCostLimit = 1
        filled(costed).respond(to: .moderate)
        #expect(costed.totalCost == 80)
        let small = filled(ImageCache(costLimit: 1 << 30))
        small.respond(to: .moderate)
        #expect(small.totalCount == 50)
    }

    @Test("what is reported reaches those who observe, until they cancel [MEM-23]")
    func observers() {
        let seen = Locked<[MemoryPressure]>([])
        let observation = MemoryPressure.observe { pressure in seen.withLock { $0.append(pressure) } }
        // Other tests run meanwhile: this level empties none of their caches.
        MemoryPressure.report(.normal)
        #expect(seen.withLock { $0 } == [.normal])
        observation.cancel()
        MemoryPressure.report(.normal)
        #expect(seen.withLock { $0 } == [.normal])
    }

    @Test("every cache responds to what is reported, in a process of its own [MEM-23]")
    func everyCache() async {
        await #expect(processExitsWith: .success) {
            let caches = [ImageCache(), ImageCache(), ImageCache.shared]
            for cache in caches {
                cache[ImageCacheKey(key: "a")] = ImageContainer(image: .mock(width: 1, height: 1))
            }
            MemoryPressure.report(.normal)
            #expect(caches.map(\.totalCount) == [1, 1, 1])
            MemoryPressure.report(.warning)
            #expect(caches.map(\.totalCount) == [0, 0, 0])
        }
    }

    @Test("an observer may report and observe: no lock is held [CON-04]")
    func reentrancy() {
        let calls = Locked(0)
        let observation = MemoryPressure.observe { pressure in
            let isFirst = calls.withLock { calls in
                calls += 1
                return calls == 1
            }
            guard isFirst else { return }
            MemoryPressure.observe { _ in }.cancel()
            MemoryPressure.report(pressure)
        }
        MemoryPressure.report(.normal)
        observation.cancel()
        #expect(calls.withLock { $0 } == 2)
    }

    // MARK: Sources

    @Test("the cgroup's word comes before the machine's, the service manager's before both")
    func order() {
        let all = MemoryPressureSource.all(environment: [:], cgroup: "/c", system: "/s")
        #expect(
            all.map { $0.map(\.path) } == [
                ["/c/memory.pressure", "/c/memory.pressure"], ["/c/memory.events"], ["/s", "/s"],
            ])
        #expect(all[0].map(\.pressure) == [.moderate, .critical])
        #expect(all[0].first?.kind == .stalls(trigger: Data("some 200000 2000000\0".utf8)))
        #expect(MemoryPressureSource.all(environment: [:], cgroup: nil, system: "/s").map(\.count) == [2])
        let told = MemoryPressureSource.all(
            environment: ["MEMORY_PRESSURE_WATCH": "/w", "MEMORY_PRESSURE_WRITE": "c29tZSAyMDAwMDAgMjAwMDAwMAA="])
        #expect(
            told == [[MemoryPressureSource(path: "/w", kind: .stalls(trigger: Data("some 200000 2000000\0".utf8)))]])
        #expect(MemoryPressureSource.all(environment: ["MEMORY_PRESSURE_WATCH": "/dev/null"]).isEmpty)
    }

    @Test("a cgroup is watched in its own folder")
    func cgroupFolders() {
        let text = "9:memory:/old\n0::/user.slice/app.service\n"
        #expect(
            HostLimits.cgroupFolders(in: text) == [
                "/sys/fs/cgroup/user.slice/app.service", "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup",
            ])
        #expect(HostLimits.cgroupFolders(in: "0::/\n") == ["/sys/fs/cgroup"])
        #expect(HostLimits.cgroupFolders(in: "4:memory:/old\n").isEmpty)
    }

    @Test("counters of memory.events that grow tell how bad it is [MEM-23]")
    func events() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("memory.events")
        func write(high: Int, max: Int, oom: Int) throws {
            try Data("low 0\nhigh \(high)\nmax \(max)\noom \(oom)\noom_kill 0\n".utf8).write(to: URL(filePath: path))
        }
        try write(high: 3, max: 0, oom: 1)
        var source = try #require(MemoryPressureSource(path: path, kind: .events).open())
        defer { source.close() }
        let changed = Int16(POLLPRI | POLLERR)
        #expect(source.events == POLLPRI && source.answer(to: changed) == .nothing)
        try write(high: 4, max: 0, oom: 1)
        #expect(source.answer(to: changed) == .pressure(.moderate) && source.answer(to: changed) == .nothing)
        try write(high: 4, max: 1, oom: 1)
        #expect(source.answer(to: changed) == .pressure(.moderate))
        try write(high: 5, max: 2, oom: 2)
        #expect(source.answer(to: changed) == .pressure(.critical))
    }

    @Test("a trigger is written as it is, and a cgroup that is gone ends the watch")
    func stalls() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("memory.pressure")
        try Data(repeating: 0, count: 4).write(to: URL(filePath: path))
        let kind = MemoryPressureSource.Kind.stalls(trigger: Data("some 1 2\0".utf8))
        var source = try #require(MemoryPressureSource(path: path, kind: kind, pressure: .critical).open())
        defer { source.close() }
        #expect(try folder.data("memory.pressure") == Data("some 1 2\0".utf8))
        #expect(source.answer(to: Int16(POLLPRI)) == .pressure(.critical))
        #expect(source.answer(to: Int16(POLLPRI | POLLERR)) == .end)
        #expect(MemoryPressureSource(path: folder.file("none"), kind: kind).open() == nil)
    }

    @Test("a watch sleeps on a thread of its own and makes a cache shrink [MEM-23]")
    func watch() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("pressure")
        #expect(mkfifo(path, 0o600) == 0)
        let missing = MemoryPressureSource(path: folder.file("none"), kind: .events)
        let lists = [[missing]] + MemoryPressureSource.all(environment: ["MEMORY_PRESSURE_WATCH": path])
        let cache = filled(ImageCache(costLimit: .max, countLimit: 100))
        let reports = Locked(0)
        let isStarted = MemoryPressureWatch.start(lists, pause: 0) { pressure in
            cache.respond(to: pressure)
            reports.withLock { $0 += 1 }
        }
        #expect(isStarted)
        let writer = open(path, O_WRONLY)
        for count in 1...2 {
            #expect(write(writer, "x", 1) == 1)
            await waitUntil { reports.withLock { $0 } >= count }
        }
        close(writer)
        #expect(cache.totalCount == 10)
        let isStartedOnNothing = MemoryPressureWatch.start([[missing]]) { _ in }
        #expect(!isStartedOnNothing)
    }
}
