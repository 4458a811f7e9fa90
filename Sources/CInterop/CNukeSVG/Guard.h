// Calls librsvg in a way that outlives it when it gives up on a file.
#ifndef CNUKESVG_GUARD_H
#define CNUKESVG_GUARD_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { CNukeSVG_CallReturned, CNukeSVG_CallBrokenOff, CNukeSVG_CallWithoutThread } CNukeSVG_Call;

// Calls `body`: on the calling thread or, once something has been broken off there, on one that is made for it. Broken off:
// Rust code in it has panicked, and what it held is lost.
CNukeSVG_Call CNukeSVG_callGuarded(void (*body)(void *), void *context);

#ifdef __cplusplus
}
#endif

#endif
