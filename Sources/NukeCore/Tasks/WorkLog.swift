/// What a node and those before it have done and found out: what the metrics of a task are made of.
///
/// Kept as it comes; names and sums are made when somebody asks.
struct WorkLog: Sendable {
    typealias Kind = ImageTask.Metrics.Stage.Kind

    /// What did a step.
    enum Subject: Sendable {
        case decoder(any ImageDecoding.Type)
        case processor(any ImageProcessing)

        var name: String {
            switch self {
            case .decoder(let type): "\(type)"
            case .processor(let processor): processor.identifier
            }
        }
    }

    /// A step, with its times in seconds on `MonotonicClock`.
    struct Step: Sendable {
        let kind: Kind
        var subject: Subject?
        var queuedSince: Double?
        let start: Double
        /// Nil: not over.
        var end: Double?
        var outputByteCount = 0
        /// What it failed with; nil if it did not.
        var failure: String?
    }

    struct Loading: Sendable {
        var response: DataResponse?
        var bodyByteCount = 0
        var resumedByteCount = 0

        /// What the response declares counts where it was sent compressed and has come whole, else what has come.
        var wireByteCount: Int {
            guard let headers = response?.headers, headers["Content-Encoding"] != nil,
                let length = headers["Content-Length"].flatMap({ Int($0) })
            else { return bodyByteCount - resumedByteCount }
            return length
        }
    }

    struct Decoding: Sendable {
        let decoder: any ImageDecoding.Type
        let sourceSize: ImageSize
        let decodedSize: ImageSize
        let type: AssetType?
    }

    var steps: [Step] = []
    var loading: Loading?
    var decoding: Decoding?
    var dataCacheKey: String?

    /// Adds what came before.
    mutating func absorb(_ earlier: WorkLog) {
        guard !steps.isEmpty else { return self = earlier }
        steps.insert(contentsOf: earlier.steps, at: 0)
        loading = loading ?? earlier.loading
        decoding = decoding ?? earlier.decoding
        dataCacheKey = dataCacheKey ?? earlier.dataCacheKey
    }
}

/// What a piece of work gave, and when it began and ended.
struct Timed<Value> {
    let value: Value
    let start: Double
    let end: Double

    init(_ work: () -> Value) {
        start = MonotonicClock.now
        value = work()
        end = MonotonicClock.now
    }

    @ImagePipelineActor
    init(_ work: @ImagePipelineActor () async -> Value) async {
        start = MonotonicClock.now
        value = await work()
        end = MonotonicClock.now
    }
}

extension Timed: Sendable where Value: Sendable {}
