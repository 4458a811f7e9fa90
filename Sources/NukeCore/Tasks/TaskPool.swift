/// The nodes under way, by identity, so that equal work is done once.
@ImagePipelineActor
final class TaskPool<Key: Hashable & Sendable, Value: Sendable> {
    private let isCoalescingEnabled: Bool
    private var nodes: [Key: TaskNode<Value>] = [:]

    nonisolated init(isCoalescingEnabled: Bool) {
        self.isCoalescingEnabled = isCoalescingEnabled
    }

    /// Nodes under way.
    var count: Int { nodes.count }

    /// Every node under way, in no order.
    var allNodes: [TaskNode<Value>] { Array(nodes.values) }

    /// The node of an identity that is under way.
    func existingNode(for key: Key) -> TaskNode<Value>? {
        nodes[key].flatMap { $0.isDisposed ? nil : $0 }
    }

    /// The node of an identity: the one under way, or a new one.
    func node(for key: @autoclosure () -> Key, make: () -> TaskNode<Value>) -> TaskNode<Value> {
        guard isCoalescingEnabled else { return make() }
        let key = key()
        // A node that is telling its subscribers of its end is still here, and no longer takes new ones.
        if let node = nodes[key], !node.isDisposed { return node }
        let node = make()
        nodes[key] = node
        node.onDisposed = { if self.nodes[key] === node { self.nodes[key] = nil } }
        return node
    }
}
