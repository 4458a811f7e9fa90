#define _GNU_SOURCE
#include "CNukeCurl.h"

#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

struct start {
    void (*body)(void *);
    void *context;
};

static void *runThread(void *argument) {
    struct start start = *(struct start *)argument;
    free(argument);
    pthread_setname_np(pthread_self(), "nuke-curl");
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, NULL);
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (utf8 != (locale_t)0) uselocale(utf8);
    start.body(start.context);
    if (utf8 != (locale_t)0) {
        uselocale(LC_GLOBAL_LOCALE);
        freelocale(utf8);
    }
    return NULL;
}

int CNukeCurl_startThread(void (*body)(void *), void *context) {
    struct start *start = malloc(sizeof *start);
    if (!start) return 12;  // ENOMEM
    *start = (struct start){body, context};
    pthread_t thread;
    int status = pthread_create(&thread, NULL, runThread, start);
    if (status == 0) {
        pthread_detach(thread);
    } else {
        free(start);
    }
    return status;
}

int64_t CNukeCurl_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

#if __has_include(<curl/curl.h>)
// The options that are used must work with libraries older than the headers, so none of their warnings is news.
#define CURL_DISABLE_DEPRECATION 1
#define CURL_DISABLE_TYPECHECK 1
#include <curl/curl.h>
#include <dlfcn.h>
#include <fcntl.h>

// Options that the headers may be too old to name.
enum {
    preReqFunction = 20312,
    preReqData = 10313,
    protocolsStr = 10318,
    redirProtocolsStr = 10319,
    quickExit = 322
};

// libcurl hands on 16 KB at most at a time. A larger buffer saves calls of recv for large bodies, but it is allocated
// and freed for every transfer, and from some size on the allocator gives that memory back each time.
static const long bufferSize = 16 << 10;

static struct {
    CURLcode (*global_init)(long);
    curl_version_info_data *(*version_info)(CURLversion);
    CURL *(*easy_init)(void);
    void (*easy_cleanup)(CURL *);
    CURLcode (*easy_setopt)(CURL *, CURLoption, ...);
    CURLcode (*easy_getinfo)(CURL *, CURLINFO, ...);
    CURLcode (*easy_pause)(CURL *, int);
    const char *(*easy_strerror)(CURLcode);
    struct curl_slist *(*slist_append)(struct curl_slist *, const char *);
    void (*slist_free_all)(struct curl_slist *);
    CURLM *(*multi_init)(void);
    CURLMcode (*multi_cleanup)(CURLM *);
    CURLMcode (*multi_setopt)(CURLM *, CURLMoption, ...);
    CURLMcode (*multi_add_handle)(CURLM *, CURL *);
    CURLMcode (*multi_remove_handle)(CURLM *, CURL *);
    CURLMcode (*multi_perform)(CURLM *, int *);
    CURLMcode (*multi_poll)(CURLM *, struct curl_waitfd *, unsigned int, int, int *);
    CURLMcode (*multi_wakeup)(CURLM *);
    CURLMsg *(*multi_info_read)(CURLM *, int *);
} curl;

static pthread_once_t openOnce = PTHREAD_ONCE_INIT;
static CNukeCurl_Library library = CNukeCurl_LibraryNotInstalled;
static const char *version;

// OpenSSL, which most builds of libcurl bring, tidies up when the process exits, while our thread may still be in libcurl or on
// its way out: then both free the same things. It is told, before anybody uses it, to leave that to the kernel. Where the
// program has used it already this changes nothing.
static void keepOpenSSLAtExit(void *handle) {
    static const uint64_t noAtExit = 0x00080000;  // OPENSSL_INIT_NO_ATEXIT, OPENSSL_init_crypto(3)
    int (*init)(uint64_t, const void *) = NULL;
    *(void **)&init = dlsym(handle, "OPENSSL_init_crypto");
    if (init) init(noAtExit, NULL);
}

static void open_(void) {
    void *handle = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_LOCAL);
    if (!handle) return;
    library = CNukeCurl_LibraryTooOld;
#define FIND(name) \
    if (!(*(void **)&curl.name = dlsym(handle, "curl_" #name))) return
    FIND(global_init);
    FIND(version_info);
    FIND(easy_init);
    FIND(easy_cleanup);
    FIND(easy_setopt);
    FIND(easy_getinfo);
    FIND(easy_pause);
    FIND(easy_strerror);
    FIND(slist_append);
    FIND(slist_free_all);
    FIND(multi_init);
    FIND(multi_cleanup);
    FIND(multi_setopt);
    FIND(multi_add_handle);
    FIND(multi_remove_handle);
    FIND(multi_perform);
    FIND(multi_poll);
    FIND(multi_wakeup);
    FIND(multi_info_read);
#undef FIND
    keepOpenSSLAtExit(handle);
    if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return;
    version = curl.version_info(CURLVERSION_FIRST)->version;
    library = CNukeCurl_LibraryReady;
}

CNukeCurl_Library CNukeCurl_openLibrary(void) {
    pthread_once(&openOnce, open_);
    return library;
}

const char *CNukeCurl_libraryVersion(void) {
    return CNukeCurl_openLibrary() == CNukeCurl_LibraryReady ? version : NULL;
}

const char *CNukeCurl_headerVersion(void) { return LIBCURL_VERSION; }

// MARK: Multi

struct CNukeCurl_Multi {
    CURLM *handle;
};

CNukeCurl_Multi *CNukeCurl_multiCreate(long idleConnections) {
    if (CNukeCurl_openLibrary() != CNukeCurl_LibraryReady) return NULL;
    CNukeCurl_Multi *multi = malloc(sizeof *multi);
    if (!multi) return NULL;
    multi->handle = curl.multi_init();
    if (!multi->handle) {
        free(multi);
        return NULL;
    }
    curl.multi_setopt(multi->handle, CURLMOPT_MAXCONNECTS, idleConnections);
    return multi;
}

void CNukeCurl_multiDestroy(CNukeCurl_Multi *multi) {
    curl.multi_cleanup(multi->handle);
    free(multi);
}

void CNukeCurl_multiPerform(CNukeCurl_Multi *multi) {
    int running;
    curl.multi_perform(multi->handle, &running);
}

int CNukeCurl_multiPoll(CNukeCurl_Multi *multi, int milliseconds) {
    int count = 0;
    curl.multi_poll(multi->handle, NULL, 0, milliseconds, &count);
    return count;
}

void CNukeCurl_multiWakeUp(CNukeCurl_Multi *multi) { curl.multi_wakeup(multi->handle); }

static CNukeCurl_Outcome outcome(CURLcode code) {
    switch (code) {
    case CURLE_OK: return CNukeCurl_OutcomeSucceeded;
    case CURLE_URL_MALFORMAT: return CNukeCurl_OutcomeBadURL;
    case CURLE_UNSUPPORTED_PROTOCOL: return CNukeCurl_OutcomeUnsupportedProtocol;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY: return CNukeCurl_OutcomeCannotResolveHost;
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY: return CNukeCurl_OutcomeCannotConnect;
    case CURLE_OPERATION_TIMEDOUT: return CNukeCurl_OutcomeTimedOut;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_ENGINE_NOTFOUND:
    case CURLE_SSL_ENGINE_SETFAILED:
    case CURLE_SSL_ENGINE_INITFAILED:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_USE_SSL_FAILED:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CRL_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case 98:  // CURLE_SSL_CLIENTCERT, since 7.77
        return CNukeCurl_OutcomeSecureConnectionFailed;
    case CURLE_TOO_MANY_REDIRECTS: return CNukeCurl_OutcomeTooManyRedirects;
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_FAIL_REWIND:
    case CURLE_HTTP2_STREAM: return CNukeCurl_OutcomeConnectionLost;
    case CURLE_PARTIAL_FILE: return CNukeCurl_OutcomeTruncatedBody;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_HTTP2:
    case CURLE_BAD_CONTENT_ENCODING:
    case 100:  // CURLE_TOO_LARGE, since 8.6: a line of the head
        return CNukeCurl_OutcomeBadResponse;
    case CURLE_WRITE_ERROR: return CNukeCurl_OutcomeAborted;
    case CURLE_OUT_OF_MEMORY: return CNukeCurl_OutcomeOutOfMemory;
    default: return CNukeCurl_OutcomeOther;
    }
}

// MARK: Easy

struct CNukeCurl_Easy {
    CURL *handle;
    struct curl_slist *headers;
    void *context;
    CNukeCurl_Listener connected;
    CNukeCurl_Receiver receiveHeaderLine, receiveBody;
    CURLcode result;
    char message[CURL_ERROR_SIZE];
};

static int connectedCallback(void *easy_, char *address, char *localAddress, int port, int localPort) {
    (void)address, (void)localAddress, (void)port, (void)localPort;
    CNukeCurl_Easy *easy = easy_;
    easy->connected(easy->context);
    return 0;  // CURL_PREREQFUNC_OK
}

static size_t headerCallback(char *bytes, size_t size, size_t count, void *easy_) {
    CNukeCurl_Easy *easy = easy_;
    size_t length = size * count;
    CNukeCurl_Answer answer = easy->receiveHeaderLine(easy->context, (const uint8_t *)bytes, length);
    return answer == CNukeCurl_AnswerGoOn ? length : length + 1;
}

static size_t bodyCallback(char *bytes, size_t size, size_t count, void *easy_) {
    CNukeCurl_Easy *easy = easy_;
    size_t length = size * count;
    switch (easy->receiveBody(easy->context, (const uint8_t *)bytes, length)) {
    case CNukeCurl_AnswerGoOn: return length;
    case CNukeCurl_AnswerPause: return CURL_WRITEFUNC_PAUSE;
    default: return length + 1;
    }
}

// Programs that this one starts are not to inherit its connections.
static int socketCallback(void *easy, curl_socket_t socket, curlsocktype purpose) {
    (void)easy, (void)purpose;
    fcntl(socket, F_SETFD, FD_CLOEXEC);
    return CURL_SOCKOPT_OK;
}

// As text since 7.85, as bits before.
static int restrictProtocols(CURL *handle) {
    if (curl.easy_setopt(handle, protocolsStr, "http,https") == CURLE_OK &&
        curl.easy_setopt(handle, redirProtocolsStr, "http,https") == CURLE_OK)
        return 1;
    long bits = CURLPROTO_HTTP | CURLPROTO_HTTPS;
    return curl.easy_setopt(handle, CURLOPT_PROTOCOLS, bits) == CURLE_OK &&
        curl.easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS, bits) == CURLE_OK;
}

CNukeCurl_Easy *CNukeCurl_easyCreate(
    CNukeCurl_Listener connected, CNukeCurl_Receiver receiveHeaderLine, CNukeCurl_Receiver receiveBody) {
    if (CNukeCurl_openLibrary() != CNukeCurl_LibraryReady) return NULL;
    CNukeCurl_Easy *easy = calloc(1, sizeof *easy);
    if (!easy) return NULL;
    easy->handle = curl.easy_init();
    if (!easy->handle || !restrictProtocols(easy->handle)) {
        CNukeCurl_easyDestroy(easy);
        return NULL;
    }
    easy->connected = connected;
    easy->receiveHeaderLine = receiveHeaderLine;
    easy->receiveBody = receiveBody;
    curl.easy_setopt(easy->handle, CURLOPT_PRIVATE, easy);
    curl.easy_setopt(easy->handle, (CURLoption)preReqFunction, connectedCallback);
    curl.easy_setopt(easy->handle, (CURLoption)preReqData, easy);
    curl.easy_setopt(easy->handle, CURLOPT_HEADERFUNCTION, headerCallback);
    curl.easy_setopt(easy->handle, CURLOPT_HEADERDATA, easy);
    curl.easy_setopt(easy->handle, CURLOPT_WRITEFUNCTION, bodyCallback);
    curl.easy_setopt(easy->handle, CURLOPT_WRITEDATA, easy);
    curl.easy_setopt(easy->handle, CURLOPT_SOCKOPTFUNCTION, socketCallback);
    curl.easy_setopt(easy->handle, CURLOPT_ERRORBUFFER, easy->message);
    curl.easy_setopt(easy->handle, CURLOPT_BUFFERSIZE, bufferSize);
    curl.easy_setopt(easy->handle, CURLOPT_NOSIGNAL, 1L);
    curl.easy_setopt(easy->handle, CURLOPT_ACCEPT_ENCODING, "");
    // What a proxy says before the tunnel stands is no part of the response.
    curl.easy_setopt(easy->handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    // Since 7.87: a transfer that is stopped while its host is looked up does not wait for the answer.
    curl.easy_setopt(easy->handle, (CURLoption)quickExit, 1L);
    return easy;
}

void CNukeCurl_easyDestroy(CNukeCurl_Easy *easy) {
    if (easy->handle) curl.easy_cleanup(easy->handle);
    curl.slist_free_all(easy->headers);
    free(easy);
}

int CNukeCurl_easySetText(CNukeCurl_Easy *easy, CNukeCurl_Text setting, const char *value) {
    CURLoption option;
    switch (setting) {
    case CNukeCurl_TextURL: option = CURLOPT_URL; break;
    case CNukeCurl_TextMethod: option = CURLOPT_CUSTOMREQUEST; break;
    case CNukeCurl_TextUserAgent: option = CURLOPT_USERAGENT; break;
    case CNukeCurl_TextProxy: option = CURLOPT_PROXY; break;
    case CNukeCurl_TextCertificates: option = CURLOPT_CAINFO; break;
    default: return 0;
    }
    return curl.easy_setopt(easy->handle, option, value) == CURLE_OK;
}

static int set(CNukeCurl_Easy *easy, CURLoption option, long value) {
    return curl.easy_setopt(easy->handle, option, value) == CURLE_OK;
}

int CNukeCurl_easySetNumber(CNukeCurl_Easy *easy, CNukeCurl_Number setting, long value) {
    switch (setting) {
    case CNukeCurl_NumberHead: return set(easy, value ? CURLOPT_NOBODY : CURLOPT_HTTPGET, 1);
    case CNukeCurl_NumberMaximumRedirects:
        return set(easy, CURLOPT_FOLLOWLOCATION, value > 0) && set(easy, CURLOPT_MAXREDIRS, value);
    case CNukeCurl_NumberConnectMilliseconds: return set(easy, CURLOPT_CONNECTTIMEOUT_MS, value);
    case CNukeCurl_NumberHTTP2:
        return set(easy, CURLOPT_HTTP_VERSION, value ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1);
    case CNukeCurl_NumberWeight: return set(easy, CURLOPT_STREAM_WEIGHT, value);
    default: return 0;
    }
}

int CNukeCurl_easySetBody(CNukeCurl_Easy *easy, const void *bytes, size_t count) {
    // The size first: COPYPOSTFIELDS copies that many.
    return curl.easy_setopt(easy->handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count) == CURLE_OK &&
        curl.easy_setopt(easy->handle, CURLOPT_COPYPOSTFIELDS, count > 0 ? bytes : "") == CURLE_OK &&
        set(easy, CURLOPT_POST, 1);
}

int CNukeCurl_easyAddHeader(CNukeCurl_Easy *easy, const char *line) {
    struct curl_slist *longer = curl.slist_append(easy->headers, line);
    if (!longer) return 0;
    easy->headers = longer;
    return 1;
}

int CNukeCurl_easyStart(CNukeCurl_Easy *easy, CNukeCurl_Multi *multi, void *context) {
    easy->context = context;
    easy->result = CURLE_OK;
    easy->message[0] = 0;
    if (easy->headers && curl.easy_setopt(easy->handle, CURLOPT_HTTPHEADER, easy->headers) != CURLE_OK) return 0;
    return curl.multi_add_handle(multi->handle, easy->handle) == CURLM_OK;
}

void CNukeCurl_easyStop(CNukeCurl_Easy *easy, CNukeCurl_Multi *multi) {
    curl.multi_remove_handle(multi->handle, easy->handle);
    if (easy->headers) {
        curl.easy_setopt(easy->handle, CURLOPT_HTTPHEADER, NULL);
        curl.slist_free_all(easy->headers);
        easy->headers = NULL;
    }
}

void CNukeCurl_easyResume(CNukeCurl_Easy *easy) { curl.easy_pause(easy->handle, CURLPAUSE_CONT); }

int64_t CNukeCurl_easySentByteCount(CNukeCurl_Easy *easy) {
    curl_off_t count = 0;
    curl.easy_getinfo(easy->handle, CURLINFO_SIZE_UPLOAD_T, &count);
    return count;
}

long CNukeCurl_easyRedirectCount(CNukeCurl_Easy *easy) {
    long count = 0;
    curl.easy_getinfo(easy->handle, CURLINFO_REDIRECT_COUNT, &count);
    return count;
}

int CNukeCurl_easyIsMultiplexed(CNukeCurl_Easy *easy) {
    long version = 0;
    curl.easy_getinfo(easy->handle, CURLINFO_HTTP_VERSION, &version);
    return version >= CURL_HTTP_VERSION_2_0;
}

const char *CNukeCurl_easyURL(CNukeCurl_Easy *easy) {
    char *url = NULL;
    curl.easy_getinfo(easy->handle, CURLINFO_EFFECTIVE_URL, &url);
    return url;
}

const char *CNukeCurl_easyMessage(CNukeCurl_Easy *easy) {
    return easy->message[0] ? easy->message : curl.easy_strerror(easy->result);
}

void *CNukeCurl_multiNextFinished(CNukeCurl_Multi *multi, CNukeCurl_Outcome *result) {
    int left;
    CURLMsg *message;
    while ((message = curl.multi_info_read(multi->handle, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        CNukeCurl_Easy *easy = NULL;
        curl.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &easy);
        easy->result = message->data.result;
        *result = outcome(easy->result);
        return easy->context;
    }
    return NULL;
}

#else
// Without libcurl's headers nothing can be made, so nothing that works on what was made is ever called.

CNukeCurl_Library CNukeCurl_openLibrary(void) { return CNukeCurl_LibraryWithoutHeaders; }
const char *CNukeCurl_libraryVersion(void) { return NULL; }

CNukeCurl_Multi *CNukeCurl_multiCreate(long idleConnections) {
    (void)idleConnections;
    return NULL;
}
void CNukeCurl_multiDestroy(CNukeCurl_Multi *multi) { (void)multi; }
void CNukeCurl_multiPerform(CNukeCurl_Multi *multi) { (void)multi; }
int CNukeCurl_multiPoll(CNukeCurl_Multi *multi, int milliseconds) { return (void)multi, (void)milliseconds, 0; }
void CNukeCurl_multiWakeUp(CNukeCurl_Multi *multi) { (void)multi; }
void *CNukeCurl_multiNextFinished(CNukeCurl_Multi *multi, CNukeCurl_Outcome *outcome) {
    (void)multi, (void)outcome;
    return NULL;
}

CNukeCurl_Easy *CNukeCurl_easyCreate(
    CNukeCurl_Listener connected, CNukeCurl_Receiver receiveHeaderLine, CNukeCurl_Receiver receiveBody) {
    (void)connected, (void)receiveHeaderLine, (void)receiveBody;
    return NULL;
}
void CNukeCurl_easyDestroy(CNukeCurl_Easy *easy) { (void)easy; }
int CNukeCurl_easySetText(CNukeCurl_Easy *easy, CNukeCurl_Text setting, const char *value) {
    (void)easy, (void)setting, (void)value;
    return 0;
}
int CNukeCurl_easySetNumber(CNukeCurl_Easy *easy, CNukeCurl_Number setting, long value) {
    (void)easy, (void)setting, (void)value;
    return 0;
}
int CNukeCurl_easySetBody(CNukeCurl_Easy *easy, const void *bytes, size_t count) {
    (void)easy, (void)bytes, (void)count;
    return 0;
}
int CNukeCurl_easyAddHeader(CNukeCurl_Easy *easy, const char *line) {
    (void)easy, (void)line;
    return 0;
}
int CNukeCurl_easyStart(CNukeCurl_Easy *easy, CNukeCurl_Multi *multi, void *context) {
    (void)easy, (void)multi, (void)context;
    return 0;
}
void CNukeCurl_easyStop(CNukeCurl_Easy *easy, CNukeCurl_Multi *multi) { (void)easy, (void)multi; }
void CNukeCurl_easyResume(CNukeCurl_Easy *easy) { (void)easy; }
int64_t CNukeCurl_easySentByteCount(CNukeCurl_Easy *easy) {
    (void)easy;
    return 0;
}
long CNukeCurl_easyRedirectCount(CNukeCurl_Easy *easy) {
    (void)easy;
    return 0;
}
const char *CNukeCurl_headerVersion(void) { return NULL; }
int CNukeCurl_easyIsMultiplexed(CNukeCurl_Easy *easy) {
    (void)easy;
    return 0;
}
const char *CNukeCurl_easyURL(CNukeCurl_Easy *easy) {
    (void)easy;
    return NULL;
}
const char *CNukeCurl_easyMessage(CNukeCurl_Easy *easy) {
    (void)easy;
    return "";
}
#endif
