internal import CNukeCore

/// The processors of the machine.
public enum Processors {
    /// How many the calling thread may run on.
    public static var countForThread: Int { Int(CNukeCore_processorCount()) }
}
