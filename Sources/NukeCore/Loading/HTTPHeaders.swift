/// Header fields of a request or response: names compare without regard to case, order and repeats are kept.
public struct HTTPHeaders: Sendable, ExpressibleByDictionaryLiteral {
    /// One field.
    public struct Field: Hashable, Sendable {
        /// The name as it was written.
        public let name: String
        /// The value, without surrounding white space.
        public let value: String

        /// Creates a field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The fields in order.
    public private(set) var fields: [Field] = []

    /// Creates an empty set.
    public init() {}

    /// Creates a set with these fields, in order.
    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { add(value, for: name) }
    }

    /// The value of the first field with this name; setting replaces all of that name, nil removes them.
    public subscript(name: String) -> String? {
        get { fields.first { Self.same($0.name, name) }?.value }
        set {
            let place = fields.firstIndex { Self.same($0.name, name) } ?? fields.endIndex
            fields.removeAll { Self.same($0.name, name) }
            if let newValue { fields.insert(Field(name: name, value: newValue), at: min(place, fields.endIndex)) }
        }
    }

    /// The values of all fields with this name, in order.
    public func values(for name: String) -> [String] {
        fields.filter { Self.same($0.name, name) }.map(\.value)
    }

    /// Adds a field behind those of the same name.
    public mutating func add(_ value: String, for name: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Whether there is no field.
    public var isEmpty: Bool { fields.isEmpty }

    private static func same(_ a: String, _ b: String) -> Bool {
        a.utf8.count == b.utf8.count && a.lowercased() == b.lowercased()
    }
}

extension HTTPHeaders: Hashable {
    /// Whether both have the same fields in the same order, names without regard to case.
    public static func == (a: HTTPHeaders, b: HTTPHeaders) -> Bool {
        a.fields.count == b.fields.count
            && zip(a.fields, b.fields).allSatisfy { same($0.name, $1.name) && $0.value == $1.value }
    }

    /// Hashes names in lower case, and values.
    public func hash(into hasher: inout Hasher) {
        for field in fields {
            hasher.combine(field.name.lowercased())
            hasher.combine(field.value)
        }
    }
}
