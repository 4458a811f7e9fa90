internal import CNukeCore
internal import Glibc

/// What this process may use: the least of what the machine has, its cgroup allows and its resource limits say.
enum HostLimits {
    /// Processors: the scheduler's affinity mask, or the cgroup's CPU quota rounded up, at least 1.
    static let processorCount: Int = {
        let processors = Int(CNukeCore_processorCount())
        guard let quota = cgroupValues(of: "cpu.max", combine: cpuQuota) else { return processors }
        return max(1, min(processors, Int(quota.rounded(.up))))
    }()

    /// Bytes of memory: the least of the machine's, the cgroup's `memory.max` and `RLIMIT_AS`.
    static let memory: Int = {
        var bytes = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
        if bytes <= 0 { bytes = 1 << 30 }
        if let limit = cgroupValues(of: "memory.max", combine: { Double($0) }), limit < Double(bytes) {
            bytes = Int(limit)
        }
        var addressSpace = rlimit()
        // SAFETY: the struct outlives the call, which fills it.
        if unsafe getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &addressSpace) == 0,
            addressSpace.rlim_cur < UInt(bytes)
        {
            bytes = Int(addressSpace.rlim_cur)
        }
        return bytes
    }()

    /// "quota period" in microseconds, or "max period" where there is no quota (cgroup v2).
    private static func cpuQuota(_ text: Substring) -> Double? {
        let parts = text.split(separator: " ")
        guard parts.count == 2, let quota = Double(parts[0]), let period = Double(parts[1]), period > 0 else {
            return nil
        }
        return quota / period
    }

    /// The folders of this process's cgroup and of those above it, its own first; none without cgroup v2.
    static let cgroupFolders: [String] = {
        guard let cgroups = try? FileReader.contents(of: "/proc/self/cgroup", limit: 64 << 10) else { return [] }
        return cgroupFolders(in: String(decoding: cgroups, as: UTF8.self))
    }()

    /// The folders that the text of /proc/self/cgroup stands for.
    static func cgroupFolders(in text: String) -> [String] {
        let own = text.split(separator: "\n").first { $0.hasPrefix("0::") }
        guard var path = own?.dropFirst(3) else { return [] }
        var folders: [String] = []
        while true {
            folders.append("/sys/fs/cgroup" + (path == "/" ? "" : path))
            guard path.count > 1, let slash = path.lastIndex(of: "/") else { return folders }
            path = slash == path.startIndex ? "/" : path[..<slash]
        }
    }

    /// The least value of a control file over this process's cgroup and those above it.
    private static func cgroupValues(of file: String, combine parse: (Substring) -> Double?) -> Double? {
        let values = cgroupFolders.compactMap { folder -> Double? in
            guard let bytes = try? FileReader.contents(of: folder + "/" + file, limit: 4096) else { return nil }
            return String(decoding: bytes, as: UTF8.self).split(separator: "\n").first.flatMap(parse)
        }
        return values.min()
    }
}
