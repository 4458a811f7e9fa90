// The state of a reader, for the files that work on it.
#ifndef CNUKEVIDEO_READER_H
#define CNUKEVIDEO_READER_H

#include "Library.h"

#ifdef CNUKEVIDEO_HAS_HEADERS

struct CNukeVideo_Reader {
    const CNukeVideo_Library *library;
    bool (*isOver)(void *);
    void *context;
    const CNukeVideo_Input *input;  // during a call
    int64_t position;
    int64_t missing;                // -1: nothing was
    bool hitEnd;                    // bytes were asked for behind the end of the data
    AVIOContext *io;
    AVFormatContext *format;
    AVPacket *packet;
    int stream;                     // the index of the one that is read
    AVCodecContext *decoder;
    AVFrame *current;               // the picture that was decoded last
    AVFrame *scratch;
    bool hasCurrent;
    bool isDrained;                 // the decoder was told that no more packets come
    bool atEnd;                     // no more packets
    bool wasCut;                    // a packet was not whole
    CNukeVideo_Choice choice;
    struct SwsContext *scaler;
    struct {
        int format, width, height, toWidth, toHeight, space, isFull, target;
    } scaling;                      // what the scaler was made for
    char message[128];
};

// Reads the bytes of the input, as libavformat wants it.
AVIOContext *CNukeVideo_makeIO(CNukeVideo_Reader *reader);
void CNukeVideo_destroyIO(CNukeVideo_Reader *reader);

// Frees what scaling holds.
void CNukeVideo_destroyScaler(CNukeVideo_Reader *reader);

#endif
#endif
