/// A doubly linked list whose nodes can be removed from anywhere at once.
final class LinkedList<Element> {
    final class Node {
        let value: Element
        fileprivate(set) var next: Node?
        /// Unlinked together with it, so never dangling; a weak one would cost each node a table of its own.
        fileprivate(set) unowned var previous: Node?

        fileprivate init(_ value: Element) { self.value = value }
    }

    private(set) var first: Node?
    private var last: Node?

    /// Unlinks node by node: releasing a long chain at once would recurse as deep as it is long.
    deinit {
        while let node = first {
            first = node.next
            node.next = nil
        }
    }

    /// All values, from first to last.
    var values: [Element] {
        var (values, node) = ([Element](), first)
        while let current = node {
            values.append(current.value)
            node = current.next
        }
        return values
    }

    @discardableResult
    func append(_ value: Element) -> Node {
        let node = Node(value)
        node.previous = last
        if let last { last.next = node } else { first = node }
        last = node
        return node
    }

    @discardableResult
    func prepend(_ value: Element) -> Node {
        let node = Node(value)
        node.next = first
        first?.previous = node
        if last == nil { last = node }
        first = node
        return node
    }

    func remove(_ node: Node) {
        if let previous = node.previous { previous.next = node.next } else { first = node.next }
        if let next = node.next { next.previous = node.previous } else { last = node.previous }
        node.next = nil
        node.previous = nil
    }

    func popFirst() -> Element? {
        guard let node = first else { return nil }
        remove(node)
        return node.value
    }
}
