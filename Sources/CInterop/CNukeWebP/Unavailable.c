// What stands in where libwebp's headers are missing, so that a machine that lacks them can build all the rest.
#include "CNukeWebP.h"

#if !(__has_include(<webp/decode.h>) && __has_include(<webp/encode.h>))

int CNukeWebP_version(void) { return 0; }
bool CNukeWebP_isAvailable(void) { return false; }

CNukeWebP_Decoder *CNukeWebP_createDecoder(CNukeWebP_Target target) {
    (void)target;
    return NULL;
}
void CNukeWebP_destroyDecoder(CNukeWebP_Decoder *decoder) { (void)decoder; }
CNukeWebP_Status CNukeWebP_decode(
    CNukeWebP_Decoder *decoder, const uint8_t *bytes, size_t count, uint8_t *pixels, size_t capacity, int *rows) {
    (void)decoder, (void)bytes, (void)count, (void)pixels, (void)capacity;
    *rows = 0;
    return CNukeWebP_unavailable;
}

CNukeWebP_Encoder *CNukeWebP_createEncoder(int width, int height) {
    (void)width, (void)height;
    return NULL;
}
void CNukeWebP_destroyEncoder(CNukeWebP_Encoder *encoder) { (void)encoder; }
void CNukeWebP_setRow(CNukeWebP_Encoder *encoder, int y, const uint8_t *row, bool isOpaque) {
    (void)encoder, (void)y, (void)row, (void)isOpaque;
}
CNukeWebP_Status CNukeWebP_encode(CNukeWebP_Encoder *encoder, CNukeWebP_EncodingOptions options) {
    (void)encoder, (void)options;
    return CNukeWebP_unavailable;
}
const uint8_t *CNukeWebP_bytes(const CNukeWebP_Encoder *encoder, size_t *count) {
    (void)encoder;
    *count = 0;
    return NULL;
}
int CNukeWebP_encoderError(const CNukeWebP_Encoder *encoder) {
    (void)encoder;
    return 0;
}

#endif
