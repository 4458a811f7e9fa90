// What NukeCurlLoader needs of libcurl: transfers (easy handles) that one multi handle drives on one thread.
//
// C is needed because curl_easy_setopt and curl_easy_getinfo are variadic, because the library is opened when the first
// load asks for it and never linked, and because threads, locales and signal masks hide behind _GNU_SOURCE. No type of
// libcurl is named here, so that Swift builds where its headers are missing.
//
// Everything but opening, and CNukeCurl_multiWakeUp, belongs to the one thread that uses the multi handle.
#ifndef CNUKECURL_H
#define CNUKECURL_H

#include <stddef.h>
#include <stdint.h>

// Whether there is a libcurl to use.
typedef enum __attribute__((enum_extensibility(closed))) {
    CNukeCurl_LibraryReady,
    CNukeCurl_LibraryNotInstalled,   // no libcurl.so.4
    CNukeCurl_LibraryTooOld,         // one without the functions of 7.68
    CNukeCurl_LibraryWithoutHeaders  // its headers were missing when this was built
} CNukeCurl_Library;

// Opens libcurl.so.4 the first time; any thread.
CNukeCurl_Library CNukeCurl_openLibrary(void);

// The version of the open library, such as "7.88.1"; NULL where there is none.
const char *_Nullable CNukeCurl_libraryVersion(void);

// The version of the headers that this was built with; opens nothing. NULL where there were none.
const char *_Nullable CNukeCurl_headerVersion(void);

// Starts a detached thread, named nuke-curl, that runs `body`; 0, or an errno.
//
// SIGPIPE is blocked there, since CURLOPT_NOSIGNAL makes libcurl leave it alone while OpenSSL may still raise it. Its
// character set is UTF-8, in which libidn2 takes the names of international hosts.
int CNukeCurl_startThread(void (*_Nonnull body)(void *_Nonnull), void *_Nonnull context);

// Milliseconds on a clock that never goes back; any thread.
int64_t CNukeCurl_now(void);

// What became of a transfer.
typedef enum __attribute__((enum_extensibility(closed))) {
    CNukeCurl_OutcomeSucceeded,
    CNukeCurl_OutcomeBadURL,
    CNukeCurl_OutcomeUnsupportedProtocol,  // the scheme's, or a server that does not speak HTTP/1.0 or later
    CNukeCurl_OutcomeCannotResolveHost,
    CNukeCurl_OutcomeCannotConnect,
    CNukeCurl_OutcomeTimedOut,
    CNukeCurl_OutcomeSecureConnectionFailed,
    CNukeCurl_OutcomeTooManyRedirects,
    CNukeCurl_OutcomeConnectionLost,
    CNukeCurl_OutcomeTruncatedBody,
    CNukeCurl_OutcomeBadResponse,
    CNukeCurl_OutcomeAborted,  // by a callback's answer
    CNukeCurl_OutcomeOutOfMemory,
    CNukeCurl_OutcomeOther
} CNukeCurl_Outcome;

// What a callback wants.
typedef enum __attribute__((enum_extensibility(closed))) {
    CNukeCurl_AnswerGoOn,
    CNukeCurl_AnswerPause,  // of the body only: the same bytes come again after CNukeCurl_easyResume
    CNukeCurl_AnswerAbort
} CNukeCurl_Answer;

// Takes a line of a response's head, with its line end, or bytes of a body.
typedef CNukeCurl_Answer (*CNukeCurl_Receiver)(
    void *_Nonnull context, const uint8_t *_Nonnull bytes, size_t count);

// Hears that the connection is up, before the request is sent.
typedef void (*CNukeCurl_Listener)(void *_Nonnull context);

typedef struct CNukeCurl_Multi CNukeCurl_Multi;
typedef struct CNukeCurl_Easy CNukeCurl_Easy;

// NULL without memory.
CNukeCurl_Multi *_Nullable CNukeCurl_multiCreate(long idleConnections);
// No transfer may be left in it.
void CNukeCurl_multiDestroy(CNukeCurl_Multi *_Nonnull multi);
// Moves all transfers on; callbacks run inside.
void CNukeCurl_multiPerform(CNukeCurl_Multi *_Nonnull multi);
// Waits until there is something to do, CNukeCurl_multiWakeUp is called or the time is over; returns how many sockets
// have something.
int CNukeCurl_multiPoll(CNukeCurl_Multi *_Nonnull multi, int milliseconds);
// Ends a wait, or the next one; any thread.
void CNukeCurl_multiWakeUp(CNukeCurl_Multi *_Nonnull multi);
// The context of a transfer that has ended since the last call, or NULL; it has still to be stopped.
void *_Nullable CNukeCurl_multiNextFinished(CNukeCurl_Multi *_Nonnull multi, CNukeCurl_Outcome *_Nonnull outcome);

// The settings that are text.
typedef enum __attribute__((enum_extensibility(closed))) {
    CNukeCurl_TextURL,
    CNukeCurl_TextMethod,  // NULL: GET, HEAD or POST, as CNukeCurl_easySetBody and CNukeCurl_NumberHead say
    CNukeCurl_TextUserAgent,
    CNukeCurl_TextProxy,
    CNukeCurl_TextCertificates
} CNukeCurl_Text;

// The settings that are numbers.
typedef enum __attribute__((enum_extensibility(closed))) {
    CNukeCurl_NumberHead,  // whether to ask for no body
    CNukeCurl_NumberMaximumRedirects,
    CNukeCurl_NumberConnectMilliseconds,
    CNukeCurl_NumberHTTP2,        // whether to offer HTTP/2 where there is TLS
    CNukeCurl_NumberWeight        // of an HTTP/2 stream, 1 to 256
} CNukeCurl_Number;

// NULL without memory, or if the library cannot be held to http and https. Versions before 7.80 never call `connected`.
CNukeCurl_Easy *_Nullable CNukeCurl_easyCreate(
    CNukeCurl_Listener _Nonnull connected, CNukeCurl_Receiver _Nonnull receiveHeaderLine,
    CNukeCurl_Receiver _Nonnull receiveBody);
void CNukeCurl_easyDestroy(CNukeCurl_Easy *_Nonnull easy);
// These copy what they are given and return 0 if the library refuses it.
int CNukeCurl_easySetText(CNukeCurl_Easy *_Nonnull easy, CNukeCurl_Text setting, const char *_Nullable value);
int CNukeCurl_easySetNumber(CNukeCurl_Easy *_Nonnull easy, CNukeCurl_Number setting, long value);
int CNukeCurl_easySetBody(CNukeCurl_Easy *_Nonnull easy, const void *_Nullable bytes, size_t count);
// A line of the next request's head: "Name: value", "Name;" for an empty value, "Name:" to send none.
int CNukeCurl_easyAddHeader(CNukeCurl_Easy *_Nonnull easy, const char *_Nonnull line);
// Puts the transfer in; `context` is what the callbacks get and CNukeCurl_multiNextFinished returns.
int CNukeCurl_easyStart(CNukeCurl_Easy *_Nonnull easy, CNukeCurl_Multi *_Nonnull multi, void *_Nonnull context);
// Takes the transfer out, whatever its state; the headers that were added are gone, the other settings stay.
void CNukeCurl_easyStop(CNukeCurl_Easy *_Nonnull easy, CNukeCurl_Multi *_Nonnull multi);
// Goes on after CNukeCurl_AnswerPause; callbacks run inside.
void CNukeCurl_easyResume(CNukeCurl_Easy *_Nonnull easy);
// How many bytes of the request's body have been sent.
int64_t CNukeCurl_easySentByteCount(CNukeCurl_Easy *_Nonnull easy);
// How many redirects were followed.
long CNukeCurl_easyRedirectCount(CNukeCurl_Easy *_Nonnull easy);
// Whether the answer came over HTTP/2 or later, whose connections carry many requests at a time.
int CNukeCurl_easyIsMultiplexed(CNukeCurl_Easy *_Nonnull easy);
// The URL that was asked last, or NULL; valid until the next call for this transfer.
const char *_Nullable CNukeCurl_easyURL(CNukeCurl_Easy *_Nonnull easy);
// What went wrong, in libcurl's words; valid until the next call for this transfer.
const char *_Nonnull CNukeCurl_easyMessage(CNukeCurl_Easy *_Nonnull easy);

#endif
