// librsvg is written in Rust. Where it meets what its authors did not think of it panics, which unwinds the stack; with
// nobody there to catch that, the process is ended. librsvg 2.54 does so on some files of a hundred bytes. C can't catch,
// C++ can. What Rust 1.81 and later compiles ends the process before it gets here.
#include "Guard.h"

#include <pthread.h>
#include <setjmp.h>

extern "C" void *__cxa_get_globals(void);

namespace {

struct Call {
    void (*body)(void *);
    void *context;
    bool isBrokenOff;
};

// The exception is Rust's: to end the handler in the usual way would hand it back, whereupon Rust ends the process. So it
// is left where it is, and forgotten by the C++ runtime, whose list of caught exceptions is the first word of its globals
// (Itanium C++ ABI, Exception Handling, 2.2.2).
__attribute__((noinline)) void callCatching(Call *call) {
    jmp_buf place;
    if (_setjmp(place)) {
        call->isBrokenOff = true;
        return;
    }
    try {
        call->body(call->context);
    } catch (...) {
        *static_cast<void **>(__cxa_get_globals()) = nullptr;
        _longjmp(place, 1);
    }
}

void *threadMain(void *context) {
    callCatching(static_cast<Call *>(context));
    return nullptr;
}

// Whether Rust has panicked on this thread: it counts, and ends the process at the second time.
thread_local bool isSpoiled = false;

}  // namespace

CNukeSVG_Call CNukeSVG_callGuarded(void (*body)(void *), void *context) {
    Call call = {body, context, false};
    if (isSpoiled) {
        pthread_t thread;
        if (pthread_create(&thread, nullptr, threadMain, &call) != 0) return CNukeSVG_CallWithoutThread;
        pthread_join(thread, nullptr);
    } else {
        // Fonts, of which Pango keeps what it has found by thread, are found once.
        callCatching(&call);
        isSpoiled = call.isBrokenOff;
    }
    return call.isBrokenOff ? CNukeSVG_CallBrokenOff : CNukeSVG_CallReturned;
}
