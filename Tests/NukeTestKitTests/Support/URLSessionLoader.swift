import Foundation
import FoundationNetworking
import NukeCore

/// A loader over Foundation's URLSession, as somebody who has only this package's documentation writes it.
///
/// It is no `DataTransfer`: tasks of URLSession can't be held back once bytes are under way.
final class URLSessionLoader: DataLoading {
    private let sessionDelegate = SessionDelegate()
    private let session: URLSession

    init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpMaximumConnectionsPerHost = 6
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        session = URLSession(configuration: configuration, delegate: sessionDelegate, delegateQueue: queue)
    }

    deinit { session.invalidateAndCancel() }

    func loadData(
        with request: DataRequest, didReceiveData: @escaping @Sendable (Data, DataResponse) -> Void,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) -> any Cancellable {
        guard let url = request.url else {
            completion(DataLoadingError.badURL)
            return Transfer(task: nil)
        }
        var urlRequest = URLRequest(
            url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: request.timeout)
        urlRequest.httpMethod = request.method
        urlRequest.httpBody = request.body
        for field in request.headers.fields { urlRequest.addValue(field.value, forHTTPHeaderField: field.name) }
        let task = session.dataTask(with: urlRequest)
        let transfer = Transfer(task: task)
        sessionDelegate.loads.withLock { loads in
            loads[task.taskIdentifier] = Load(
                transfer: transfer, didReceiveData: didReceiveData, completion: completion)
        }
        task.resume()
        return transfer
    }

    struct Load: Sendable {
        let transfer: Transfer
        let didReceiveData: @Sendable (Data, DataResponse) -> Void
        let completion: @Sendable ((any Error)?) -> Void
        var response: DataResponse?
    }

    final class Transfer: Cancellable {
        private let task: URLSessionDataTask?
        private let flag = CancellationFlag()

        init(task: URLSessionDataTask?) { self.task = task }

        var isCancelled: Bool { flag.isCancelled }

        func cancel() {
            flag.cancel()
            task?.cancel()
        }
    }
}

/// Hands what the session says to the load that it is about.
private final class SessionDelegate: NSObject, URLSessionDataDelegate, Sendable {
    let loads = Lock<[Int: URLSessionLoader.Load]>([:])

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        let answer = Self.response(response)
        let load = loads.withLock { loads in
            loads[dataTask.taskIdentifier]?.response = answer
            return loads[dataTask.taskIdentifier]
        }
        if let load, !load.transfer.isCancelled { load.didReceiveData(Data(), answer) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let load = loads.withLock({ $0[dataTask.taskIdentifier] }), let response = load.response else { return }
        if !load.transfer.isCancelled { load.didReceiveData(data, response) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let load = loads.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        guard !load.transfer.isCancelled else { return }
        load.completion(error)
    }

    private static func response(_ response: URLResponse) -> DataResponse {
        let http = response as? HTTPURLResponse
        var answer = DataResponse(
            url: response.url, statusCode: http?.statusCode, expectedContentLength: response.expectedContentLength)
        for (name, value) in http?.allHeaderFields ?? [:] { answer.headers.add("\(value)", for: "\(name)") }
        return answer
    }
}
