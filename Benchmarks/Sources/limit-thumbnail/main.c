// W2: the least work that makes a 320 pixel wide JPEG of quality 80: limit-thumbnail IN OUT
// Decodes at 1/8 by DCT scaling, row by row into an area average.
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

enum { targetWidth = 320 };

// Sums of one output row, and how much of a source row goes to it.
static void average(const unsigned char *row, int width, double scale, float weight, float *sums) {
    for (int x = 0; x < targetWidth; x++) {
        double start = x * scale, end = start + scale;
        for (int i = (int)start; i < end && i < width; i++) {
            double covered = (i + 1 < end ? i + 1 : end) - (i > start ? i : start);
            for (int c = 0; c < 3; c++) sums[x * 3 + c] += row[i * 3 + c] * (float)covered * weight;
        }
    }
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    FILE *in = fopen(argv[1], "rb");
    if (!in) return 1;
    struct jpeg_decompress_struct source;
    struct jpeg_error_mgr errors;
    source.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&source);
    jpeg_stdio_src(&source, in);
    jpeg_read_header(&source, TRUE);
    source.scale_num = 1;
    source.scale_denom = 8;
    source.out_color_space = JCS_RGB;
    jpeg_start_decompress(&source);
    int width = (int)source.output_width, height = (int)source.output_height;
    int targetHeight = (int)((double)height * targetWidth / width + 0.5);
    double scaleX = (double)width / targetWidth, scaleY = (double)height / targetHeight;
    unsigned char *row = malloc((size_t)width * 3), *line = malloc(targetWidth * 3);
    float *sums = calloc(targetWidth * 3, sizeof *sums);

    FILE *out = fopen(argv[2], "wb");
    if (!out) return 1;
    struct jpeg_compress_struct target;
    target.err = jpeg_std_error(&errors);
    jpeg_create_compress(&target);
    jpeg_stdio_dest(&target, out);
    target.image_width = targetWidth;
    target.image_height = (JDIMENSION)targetHeight;
    target.input_components = 3;
    target.in_color_space = JCS_RGB;
    jpeg_set_defaults(&target);
    jpeg_set_quality(&target, 80, TRUE);
    jpeg_start_compress(&target, TRUE);

    for (int y = 0, outputRow = 0; y < height; y++) {
        jpeg_read_scanlines(&source, &row, 1);
        while (outputRow < targetHeight) {
            double start = outputRow * scaleY, end = start + scaleY;
            double covered = (y + 1 < end ? y + 1 : end) - (y > start ? y : start);
            if (covered > 0) average(row, width, scaleX, (float)covered, sums);
            if (end > y + 1 && y + 1 < height) break;
            for (int i = 0; i < targetWidth * 3; i++) {
                line[i] = (unsigned char)(sums[i] / (float)(scaleX * scaleY) + 0.5f);
                sums[i] = 0;
            }
            jpeg_write_scanlines(&target, &line, 1);
            outputRow++;
        }
    }
    jpeg_finish_compress(&target);
    jpeg_destroy_compress(&target);
    jpeg_finish_decompress(&source);
    jpeg_destroy_decompress(&source);
    fclose(out);
    return 0;
}
