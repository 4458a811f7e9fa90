// libjpeg-turbo, where its headers are installed, and what decoder and encoder share. Not seen by Swift.
#ifndef CNUKEJPEG_LIBRARY_H
#define CNUKEJPEG_LIBRARY_H

#include "CNukeJPEG.h"

// jpeglib.h wants stdio.h before it. Other libraries of that name lack RGBA output, hence the second test below.
#if __has_include(<jpeglib.h>)
#include <stdio.h>
#include <jpeglib.h>
#include <jerror.h>
#endif

#if defined(LIBJPEG_TURBO_VERSION) && defined(JCS_ALPHA_EXTENSIONS)
#define CNUKEJPEG_HAS_LIBRARY 1

#include <setjmp.h>

// How an object fails: libjpeg's error manager first, so that a pointer to it is one to the whole.
typedef struct CNukeJPEG_Failure {
    struct jpeg_error_mgr manager;
    jmp_buf escape;  // where the call that is running gets back to
    CNukeJPEG_Status status;
    char message[JMSG_LENGTH_MAX];
    int isInputOver;  // what looks like damage from now on is lack of data
} CNukeJPEG_Failure;

// Makes `failure` the error manager to give to a libjpeg object.
struct jpeg_error_mgr *CNukeJPEG_failureInit(CNukeJPEG_Failure *failure);

// Ends the running call with this status.
_Noreturn void CNukeJPEG_fail(CNukeJPEG_Failure *failure, CNukeJPEG_Status status, const char *message);

#endif
#endif
