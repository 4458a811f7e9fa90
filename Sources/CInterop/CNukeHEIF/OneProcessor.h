// A call during which the calling thread, and the threads that it makes, have one processor.
//
// dav1d makes as many threads as its caller may use processors, and memory for a frame by every two of them; there is no other
// way to tell it through libheif. Of a still of 3 megapixels two threads make 32 MB instead of 20, and take a fifth more
// of the processors' time. How much runs at a time is for the caller's threads to say.
#ifndef CNUKEHEIF_ONEPROCESSOR_H
#define CNUKEHEIF_ONEPROCESSOR_H

// What begin hands to end.
typedef struct CNukeHEIF_OneProcessor CNukeHEIF_OneProcessor;

// Takes the processor that the thread runs on, or, if a call under way has it, the one that fewest have; NULL where there is
// nothing to restrict, or the system does not let us.
CNukeHEIF_OneProcessor *CNukeHEIF_beginOneProcessor(void);

// Gives the thread back what it had.
void CNukeHEIF_endOneProcessor(CNukeHEIF_OneProcessor *restriction);

#endif
