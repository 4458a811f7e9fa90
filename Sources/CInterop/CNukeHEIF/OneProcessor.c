#define _GNU_SOURCE
#include "OneProcessor.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

struct CNukeHEIF_OneProcessor {
    cpu_set_t before;
    int processor;
};

// How many calls under way have each processor.
static atomic_int users[CPU_SETSIZE];

static int leastUsed(const cpu_set_t *allowed) {
    int best = sched_getcpu();
    if (best < 0 || best >= CPU_SETSIZE || !CPU_ISSET(best, allowed)) best = -1;
    for (int processor = 0; processor < CPU_SETSIZE; processor++) {
        if (!CPU_ISSET(processor, allowed)) continue;
        if (best < 0 || atomic_load(&users[processor]) < atomic_load(&users[best])) best = processor;
    }
    return best;
}

CNukeHEIF_OneProcessor *CNukeHEIF_beginOneProcessor(void) {
    CNukeHEIF_OneProcessor *restriction = calloc(1, sizeof *restriction);
    if (!restriction) return NULL;
    if (sched_getaffinity(0, sizeof restriction->before, &restriction->before) || CPU_COUNT(&restriction->before) < 2) {
        free(restriction);
        return NULL;
    }
    restriction->processor = leastUsed(&restriction->before);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(restriction->processor, &one);
    if (sched_setaffinity(0, sizeof one, &one)) {
        free(restriction);
        return NULL;
    }
    atomic_fetch_add(&users[restriction->processor], 1);
    return restriction;
}

void CNukeHEIF_endOneProcessor(CNukeHEIF_OneProcessor *restriction) {
    if (!restriction) return;
    atomic_fetch_sub(&users[restriction->processor], 1);
    // If the processors of the process are others by now, those that are left of these count.
    sched_setaffinity(0, sizeof restriction->before, &restriction->before);
    free(restriction);
}
