#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Loads pieces of a body from further on, beside the transfer that brings the whole; letting go of it stops them.
@ImagePipelineActor
final class RangeLoads {
    typealias Piece = (offset: Int, data: Data)

    /// How often ranges are asked for in a download.
    static let maximumCount = 8

    private let loader: any DataLoading
    private let request: DataRequest
    private let response: DataResponse
    private let limit: Int?
    private var count = 0
    private var pieces: [Piece] = []
    private var transfers: [RangeTransfer] = []

    /// How urgent the transfers are.
    var priority = ImageRequest.Priority.normal {
        didSet { for transfer in transfers { transfer.priority = priority } }
    }

    init(loader: any DataLoading, request: DataRequest, response: DataResponse, limit: Int?) {
        self.loader = loader
        self.request = request
        self.response = response
        self.limit = limit
    }

    /// Whether nothing is under way.
    var isIdle: Bool { transfers.isEmpty }

    /// Loads what of `range` is not there yet; `completion` gets all pieces so far, or nil if it can't be had.
    func load(
        _ range: Range<Int>, receivedCount: Int, priority: ImageRequest.Priority,
        completion: @escaping @ImagePipelineActor ([Piece]?) -> Void
    ) {
        count += 1
        guard count <= Self.maximumCount else { return completion(nil) }
        guard range.upperBound > receivedCount else { return completion(pieces) }
        let missing = max(range.lowerBound, receivedCount)..<range.upperBound
        let held = pieces.reduce(receivedCount) { $0 + $1.data.count }
        guard missing.count <= (limit ?? .max) - held,
            let request = RangeRequest(missing, of: request, answeredBy: response)
        else { return completion(nil) }
        let transfer = RangeTransfer(request) { [weak self] transfer, data in
            guard let self else { return }
            self.transfers.removeAll { $0 === transfer }
            guard let data else { return completion(nil) }
            self.pieces.append((missing.lowerBound, data))
            completion(self.pieces)
        }
        transfers.append(transfer)
        transfer.start(with: loader)
        self.priority = priority
    }
}

/// One request for a piece.
@ImagePipelineActor
private final class RangeTransfer {
    private let request: RangeRequest
    private var completion: (@ImagePipelineActor (RangeTransfer, Data?) -> Void)?
    private var mailbox: DataMailbox?
    private var transfer: (any Cancellable)?
    private var received = ReceivedData()
    private var isAccepted = false

    var priority = ImageRequest.Priority.normal {
        didSet { (transfer as? any DataTransfer)?.priority = priority }
    }

    init(_ request: RangeRequest, completion: @escaping @ImagePipelineActor (RangeTransfer, Data?) -> Void) {
        self.request = request
        self.completion = completion
    }

    deinit { mailbox?.abandon() }

    func start(with loader: any DataLoading) {
        let mailbox = DataMailbox { [weak self] in self?.drain() }
        self.mailbox = mailbox
        received.reserve(Int64(request.range.count))
        let transfer = loader.loadData(
            with: request.dataRequest, didReceiveData: { mailbox.post($0, $1) }, completion: { mailbox.close($0) })
        self.transfer = transfer
        mailbox.attach(transfer)
        if mailbox.open() { Task { @ImagePipelineActor in drain() } }
    }

    private func drain() {
        guard completion != nil, let (chunks, end, isPaused) = mailbox?.take() else { return }
        if isPaused { (transfer as? any DataTransfer)?.resume() }
        for chunk in chunks {
            guard isAccepted || request.isAnswered(by: chunk.response) else { return finish(nil) }
            isAccepted = true
            guard received.count + chunk.data.count <= request.range.count else { return finish(nil) }
            received.append(chunk.data)
        }
        guard let end else { return }
        mailbox?.finish()
        finish(end.error == nil && received.count == request.range.count ? received.prefix() : nil)
    }

    private func finish(_ data: Data?) {
        mailbox?.abandon()
        let completion = completion
        self.completion = nil
        completion?(self, data)
    }
}
