// What decoder and encoder share: the library's version and its errors.
#include "Library.h"

#ifdef CNUKEJPEG_HAS_LIBRARY

#include <string.h>

#define TEXT_OF(tokens) #tokens
#define TEXT(macro) TEXT_OF(macro)

int CNukeJPEG_isAvailable(void) { return 1; }

const char *CNukeJPEG_version(void) { return TEXT(LIBJPEG_TURBO_VERSION); }

static CNukeJPEG_Status statusOf(const struct jpeg_error_mgr *manager) {
    switch (manager->msg_code) {
    case JERR_OUT_OF_MEMORY: return CNukeJPEG_StatusOutOfMemory;
    case JERR_NO_BACKING_STORE:  // max_memory_to_use does not suffice
    case JERR_IMAGE_TOO_BIG:
    case JERR_WIDTH_OVERFLOW: return CNukeJPEG_StatusLimitExceeded;
    // 12 is the other depth that the DCT processes have; a value beside the two is damage.
    case JERR_BAD_PRECISION:
        return manager->msg_parm.i[0] == 12 ? CNukeJPEG_StatusUnsupported : CNukeJPEG_StatusCorrupt;
    case JERR_SOF_UNSUPPORTED:
    case JERR_ARITH_NOTIMPL:
    case JERR_CANT_SUSPEND:  // arithmetic decoding, where the input is not complete
    case JERR_CCIR601_NOTIMPL:
    case JERR_COMPONENT_COUNT:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_NOTIMPL:
    case JERR_NOT_COMPILED: return CNukeJPEG_StatusUnsupported;
    case JERR_INPUT_EMPTY:
    case JERR_INPUT_EOF: return CNukeJPEG_StatusTruncated;
    case JERR_BAD_LIB_VERSION:
    case JERR_BAD_STRUCT_SIZE: return CNukeJPEG_StatusUnavailable;
    default: return CNukeJPEG_StatusCorrupt;
    }
}

static void errorExit(j_common_ptr object) {
    CNukeJPEG_Failure *failure = (CNukeJPEG_Failure *)object->err;
    CNukeJPEG_Status status = statusOf(&failure->manager);
    if (status == CNukeJPEG_StatusCorrupt && failure->isInputOver) status = CNukeJPEG_StatusTruncated;
    failure->status = status;
    failure->manager.format_message(object, failure->message);
    longjmp(failure->escape, 1);
}

static void outputNothing(j_common_ptr object) { (void)object; }

// libjpeg's own would print warnings.
static void countWarning(j_common_ptr object, int level) {
    if (level < 0) object->err->num_warnings++;
}

struct jpeg_error_mgr *CNukeJPEG_failureInit(CNukeJPEG_Failure *failure) {
    jpeg_std_error(&failure->manager);
    failure->manager.error_exit = errorExit;
    failure->manager.output_message = outputNothing;
    failure->manager.emit_message = countWarning;
    failure->status = CNukeJPEG_StatusOk;
    failure->message[0] = 0;
    failure->isInputOver = 0;
    return &failure->manager;
}

void CNukeJPEG_fail(CNukeJPEG_Failure *failure, CNukeJPEG_Status status, const char *message) {
    failure->status = status;
    strncpy(failure->message, message, sizeof failure->message - 1);
    failure->message[sizeof failure->message - 1] = 0;
    longjmp(failure->escape, 1);
}

#else

int CNukeJPEG_isAvailable(void) { return 0; }

const char *CNukeJPEG_version(void) { return ""; }

#endif
