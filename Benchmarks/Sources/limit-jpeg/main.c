// W1: libjpeg-turbo from memory to RGBA8, into a buffer that is kept: limit-jpeg FILE PASSES
// One uncounted pass, then a line "<cpu ms> <wall ms>" for each.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jpeglib.h>

static double milliseconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static unsigned char *slurp(const char *path, size_t *count) {
    FILE *file = fopen(path, "rb");
    if (!file) exit(1);
    fseek(file, 0, SEEK_END);
    *count = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*count);
    if (fread(bytes, 1, *count, file) != *count) exit(1);
    fclose(file);
    return bytes;
}

static unsigned char *pixels;

static void decode(const unsigned char *bytes, size_t count) {
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr errors;
    info.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, bytes, count);
    jpeg_read_header(&info, TRUE);
    info.out_color_space = JCS_EXT_RGBA;
    jpeg_start_decompress(&info);
    size_t stride = (size_t)info.output_width * 4;
    if (!pixels) {
        pixels = malloc(stride * info.output_height);
        memset(pixels, 0, stride * info.output_height);
    }
    while (info.output_scanline < info.output_height) {
        JSAMPROW rows[16];
        for (unsigned i = 0; i < 16; i++) {
            unsigned y = info.output_scanline + i;
            rows[i] = pixels + (y < info.output_height ? y : info.output_height - 1) * stride;
        }
        jpeg_read_scanlines(&info, rows, 16);
    }
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    size_t count;
    unsigned char *bytes = slurp(argv[1], &count);
    for (int pass = 0; pass <= atoi(argv[2]); pass++) {
        double cpu = milliseconds(CLOCK_PROCESS_CPUTIME_ID), wall = milliseconds(CLOCK_MONOTONIC);
        decode(bytes, count);
        cpu = milliseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        wall = milliseconds(CLOCK_MONOTONIC) - wall;
        if (pass > 0) printf("%.6f %.6f\n", cpu, wall);
    }
    return 0;
}
