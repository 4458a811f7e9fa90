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

    /// The least value of a control file over this process's cgroup and those above it (cgroup v2).
    private static func cgroupValues(of file: String, combine parse: (Substring) -> Double?) -> Double? {
        guard let cgroups = try? FileReader.contents(of: "/proc/self/cgroup", limit: 64 << 10) else { return nil }
        let own = String(decoding: cgroups, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("0::") }
        guard var path = own?.dropFirst(3) else { return nil }
        var least: Double?
        while true {
            let name = "/sys/fs/cgroup" + (path == "/" ? "" : path) + "/" + file
            if let bytes = try? FileReader.contents(of: name, limit: 4096),
                let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first, let value = parse(line)
            {
                least = min(least ?? value, value)
            }
            guard path.count > 1, let slash = path.lastIndex(of: "/") else { return least }
            path = slash == path.startIndex ? "/" : path[..<slash]
        }
    }
}
