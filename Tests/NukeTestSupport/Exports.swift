@_exported public import NukeTestKit

/// The clock of NukeTestKit, by the name that tests here have for it.
public typealias TestClock = ManualClock
/// The loader of NukeTestKit, by the name that tests here have for it.
public typealias MockDataLoader = ScriptedLoader
/// One load of it.
public typealias MockTransfer = ScriptedTransfer
