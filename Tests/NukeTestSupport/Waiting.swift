public import NukeCore

/// Lets everything that is due on the pipeline's actor happen until a condition holds there.
///
/// Never waits for time to pass: it yields, and the suites' time limit, which cancels the test, ends it where the condition
/// never comes true.
@ImagePipelineActor
public func waitUntil(_ condition: @ImagePipelineActor () -> Bool) async {
    while !condition(), !Task.isCancelled { await Task.yield() }
}

/// Lets everything that is due happen until a task has its outcome.
public func waitUntilEnded(_ task: ImageTask) async {
    await waitUntil { task.status.result != nil }
}
