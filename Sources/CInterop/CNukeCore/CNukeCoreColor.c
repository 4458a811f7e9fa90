#include "CNukeCore.h"

// Four at a time: the loads of one do not wait for those of another. A compiler of Swift makes half the speed of the same loop.
void CNukeCore_convertOpaquePixels(
    uint32_t *pixels, size_t count, const uint32_t *pairs, const uint32_t *blueSteps, const uint8_t *encoded) {
    size_t index = 0;
    for (; index + 4 <= count; index += 4) {
        uint32_t pixel[4], pair[4], blue[4];
        for (int i = 0; i < 4; i++) pixel[i] = pixels[index + i];
        for (int i = 0; i < 4; i++) pair[i] = pairs[pixel[i] & 0xFFFF];
        for (int i = 0; i < 4; i++) blue[i] = encoded[(pair[i] >> 16) + blueSteps[pixel[i] >> 16 & 255]];
        for (int i = 0; i < 4; i++)
            pixels[index + i] = (pair[i] & 0xFFFF) | blue[i] << 16 | (pixel[i] & 0xFF000000);
    }
    for (; index < count; index++) {
        uint32_t pixel = pixels[index], pair = pairs[pixel & 0xFFFF];
        uint32_t blue = encoded[(pair >> 16) + blueSteps[pixel >> 16 & 255]];
        pixels[index] = (pair & 0xFFFF) | blue << 16 | (pixel & 0xFF000000);
    }
}
