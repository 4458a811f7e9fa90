// Decoding, over a source that suspends where the input is not complete.
#include "Library.h"

#ifdef CNUKEJPEG_HAS_LIBRARY

#include <limits.h>
#include <stdlib.h>
#include <string.h>

// A profile has at most 255 chunks; one more shows that a chain is damaged.
enum { chunkCapacity = 256, rowsAtOnce = 16 };

struct CNukeJPEG_Decoder {
    CNukeJPEG_Failure failure;
    struct jpeg_decompress_struct info;
    struct jpeg_source_mgr source;
    CNukeJPEG_Limits limits;

    // The input during a call, how much of it is used up, and how much beyond its end is to be skipped.
    CNukeJPEG_Input input;
    size_t position;
    size_t pendingSkip;

    int isHeaderRead;
    int isTruncated;
    int segmentCount;
    size_t metadataBytes;
    CNukeJPEG_Range exif;
    int hasEXIF;
    CNukeJPEG_Range chunks[chunkCapacity];
    int chunkCount;

    int completeScan;               // the last scan that came to its end; 0: none yet
    int damagedScan;                // the last scan that a marker cut short
    unsigned completeComponents;    // bits: of which a scan with the means of blocks (DC) is complete
    int isPassRunning;
    int keepsCMYK;
};

static CNukeJPEG_Decoder *decoderOf(j_common_ptr object) { return object->client_data; }

// Data is lacking for certain: ends the call, unless what there is of the picture is wanted.
static void lackData(CNukeJPEG_Decoder *decoder) {
    if (!decoder->limits.isLenient || !decoder->isHeaderRead)
        CNukeJPEG_fail(&decoder->failure, CNukeJPEG_StatusTruncated, "the data ends before the picture does");
    decoder->isTruncated = 1;
    decoder->failure.isInputOver = 1;
}

static void countSegment(CNukeJPEG_Decoder *decoder) {
    if (++decoder->segmentCount > decoder->limits.segmentCount)
        CNukeJPEG_fail(&decoder->failure, CNukeJPEG_StatusLimitExceeded, "too many marker segments");
}

static void emitMessage(j_common_ptr object, int level) {
    CNukeJPEG_Decoder *decoder = decoderOf(object);
    if (level < 0) object->err->num_warnings++;
    switch (object->err->msg_code) {
    // The decoder of entropy-coded data met a marker: the one that stands for the end of the input, if that is over.
    case JWRN_HIT_MARKER:
        decoder->damagedScan = decoder->info.input_scan_number;
        if (decoder->failure.isInputOver) lackData(decoder);
        break;
    case JTRC_ADOBE:
    case JTRC_APP0:
    case JTRC_APP14:
    case JTRC_DAC:
    case JTRC_DHT:
    case JTRC_DQT:
    case JTRC_DRI:
    case JTRC_JFIF:
    case JTRC_JFIF_EXTENSION:
    case JTRC_MISC_MARKER:
    case JTRC_PARMLESS_MARKER:
    case JTRC_SOS:
    case JTRC_THUMB_JPEG:
    case JTRC_THUMB_PALETTE:
    case JTRC_THUMB_RGB: countSegment(decoder); break;
    default: break;
    }
}

// MARK: Source

static const JOCTET endOfImage[] = {0xFF, JPEG_EOI};

static void doNothing(j_decompress_ptr info) { (void)info; }

static void pointToEndOfImage(CNukeJPEG_Decoder *decoder) {
    decoder->source.next_input_byte = endOfImage;
    decoder->source.bytes_in_buffer = sizeof endOfImage;
}

static boolean fillInput(j_decompress_ptr info) {
    CNukeJPEG_Decoder *decoder = decoderOf((j_common_ptr)info);
    if (!decoder->input.isComplete) return FALSE;
    // Nothing more will come: from now on the decoder sees end markers.
    decoder->failure.isInputOver = 1;
    // Within a marker segment something is lacking for certain; unread_marker is set from its first byte to its last.
    // Where that is tolerated the library waits, so that it does not take end markers for the segment's content.
    if (info->unread_marker != 0) {
        lackData(decoder);
        return FALSE;
    }
    // Arithmetic decoding takes zeros after the end without a warning, and rightly for a few bytes: encoders leave
    // them out. So rows of blocks below the one being decoded are what shows that data is lacking.
    int isDecoding = info->input_scan_number > 0 && info->input_iMCU_row + 1 < info->total_iMCU_rows;
    if (info->arith_code && isDecoding) lackData(decoder);
    pointToEndOfImage(decoder);
    return TRUE;
}

// Ends the input where more is to be skipped than there is.
static void skipBeyondEnd(CNukeJPEG_Decoder *decoder) {
    lackData(decoder);
    decoder->pendingSkip = 0;
    pointToEndOfImage(decoder);
}

static void skipInput(j_decompress_ptr info, long count) {
    CNukeJPEG_Decoder *decoder = decoderOf((j_common_ptr)info);
    if (count <= 0) return;
    struct jpeg_source_mgr *source = &decoder->source;
    size_t taken = (size_t)count < source->bytes_in_buffer ? (size_t)count : source->bytes_in_buffer;
    source->next_input_byte += taken;
    source->bytes_in_buffer -= taken;
    decoder->pendingSkip = (size_t)count - taken;
    if (decoder->pendingSkip > 0 && decoder->input.isComplete) skipBeyondEnd(decoder);
}

// To be called behind setjmp: points the source at what is not used up yet.
static void enter(CNukeJPEG_Decoder *decoder, CNukeJPEG_Input input) {
    decoder->input = input;
    if (decoder->failure.isInputOver) {
        pointToEndOfImage(decoder);
        return;
    }
    size_t left = input.count > decoder->position ? input.count - decoder->position : 0;
    size_t skipped = decoder->pendingSkip < left ? decoder->pendingSkip : left;
    decoder->position += skipped;
    decoder->pendingSkip -= skipped;
    decoder->source.next_input_byte = left > 0 ? input.bytes + decoder->position : endOfImage;
    decoder->source.bytes_in_buffer = left - skipped;
    if (decoder->pendingSkip > 0 && input.isComplete) skipBeyondEnd(decoder);
}

static void leave(CNukeJPEG_Decoder *decoder) {
    if (!decoder->failure.isInputOver) decoder->position = decoder->input.count - decoder->source.bytes_in_buffer;
    decoder->input.bytes = NULL;
}

// MARK: Segments

static void remember(CNukeJPEG_Decoder *decoder, int marker, CNukeJPEG_Range content) {
    static const char exif[] = "Exif\0", icc[] = "ICC_PROFILE";
    // The header is six bytes: the name, its end, and a byte that may be anything.
    enum { exifHeader = sizeof exif, iccHeader = sizeof icc };
    const uint8_t *bytes = decoder->input.bytes + content.offset;
    int isEXIF = marker == JPEG_APP0 + 1 && content.count > exifHeader && memcmp(bytes, exif, sizeof exif - 1) == 0;
    int isICC = marker == JPEG_APP0 + 2 && content.count > iccHeader && memcmp(bytes, icc, sizeof icc) == 0;
    if (isEXIF && !decoder->hasEXIF) {
        decoder->hasEXIF = 1;
        decoder->exif = (CNukeJPEG_Range){content.offset + exifHeader, content.count - exifHeader};
    } else if (isICC && decoder->chunkCount < chunkCapacity) {
        decoder->chunks[decoder->chunkCount++] =
            (CNukeJPEG_Range){content.offset + iccHeader, content.count - iccHeader};
    } else {
        return;
    }
    decoder->metadataBytes += content.count;
    if (decoder->metadataBytes > decoder->limits.metadataBytes)
        CNukeJPEG_fail(&decoder->failure, CNukeJPEG_StatusLimitExceeded, "too much metadata");
}

// In place of jpeg_save_markers: takes note of where an APP1 or APP2 segment lies instead of copying it.
static boolean readSegment(j_decompress_ptr info) {
    CNukeJPEG_Decoder *decoder = decoderOf((j_common_ptr)info);
    struct jpeg_source_mgr *source = &decoder->source;
    size_t left = source->bytes_in_buffer;
    size_t length = left >= 2 ? (size_t)source->next_input_byte[0] << 8 | source->next_input_byte[1] : SIZE_MAX;
    if (length < 2) length = 2;  // as the library does: the two bytes of the length are there
    if (left < length) {
        if (decoder->input.isComplete) lackData(decoder);
        return FALSE;
    }
    countSegment(decoder);
    if (!decoder->isHeaderRead && !decoder->failure.isInputOver)
        remember(decoder, info->unread_marker, (CNukeJPEG_Range){decoder->input.count - left + 2, length - 2});
    source->next_input_byte += length;
    source->bytes_in_buffer -= length;
    return TRUE;
}

// MARK: Life

CNukeJPEG_Decoder *CNukeJPEG_decoderCreate(CNukeJPEG_Limits limits) {
    CNukeJPEG_Decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) return NULL;
    decoder->limits = limits;
    decoder->info.err = CNukeJPEG_failureInit(&decoder->failure);
    if (setjmp(decoder->failure.escape)) return decoder;
    jpeg_create_decompress(&decoder->info);
    decoder->failure.manager.emit_message = emitMessage;
    decoder->info.client_data = decoder;
    decoder->info.mem->max_memory_to_use = limits.memoryBytes < LONG_MAX ? (long)limits.memoryBytes : LONG_MAX;
    decoder->info.src = &decoder->source;
    decoder->source.init_source = doNothing;
    decoder->source.fill_input_buffer = fillInput;
    decoder->source.skip_input_data = skipInput;
    decoder->source.resync_to_restart = jpeg_resync_to_restart;
    decoder->source.term_source = doNothing;
    jpeg_set_marker_processor(&decoder->info, JPEG_APP0 + 1, readSegment);
    jpeg_set_marker_processor(&decoder->info, JPEG_APP0 + 2, readSegment);
    return decoder;
}

void CNukeJPEG_decoderDestroy(CNukeJPEG_Decoder *decoder) {
    jpeg_destroy_decompress(&decoder->info);
    free(decoder);
}

const char *CNukeJPEG_decoderMessage(const CNukeJPEG_Decoder *decoder) { return decoder->failure.message; }

long CNukeJPEG_decoderWarningCount(const CNukeJPEG_Decoder *decoder) {
    return decoder->failure.manager.num_warnings;
}

int CNukeJPEG_decoderIsTruncated(const CNukeJPEG_Decoder *decoder) { return decoder->isTruncated; }

// MARK: Header

static uint64_t roundedUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

static void describe(CNukeJPEG_Decoder *decoder, CNukeJPEG_Header *header) {
    const struct jpeg_decompress_struct *info = &decoder->info;
    *header = (CNukeJPEG_Header){0};
    header->width = (int)info->image_width;
    header->height = (int)info->image_height;
    header->bitDepth = info->data_precision;
    switch (info->jpeg_color_space) {
    case JCS_GRAYSCALE: header->colorModel = CNukeJPEG_ColorModelGray; break;
    case JCS_RGB:
    case JCS_YCbCr: header->colorModel = CNukeJPEG_ColorModelRGB; break;
    case JCS_CMYK:
    case JCS_YCCK: header->colorModel = CNukeJPEG_ColorModelCMYK; break;
    default: header->colorModel = CNukeJPEG_ColorModelUnknown; break;
    }
    header->isProgressive = info->progressive_mode;
    header->hasMultipleScans = jpeg_has_multiple_scans(&decoder->info);
    for (int i = 0; i < info->num_components; i++) {
        const jpeg_component_info *component = &info->comp_info[i];
        uint64_t columns = roundedUp(component->width_in_blocks, (uint64_t)component->h_samp_factor);
        uint64_t rows = roundedUp(component->height_in_blocks, (uint64_t)component->v_samp_factor);
        header->coefficientBytes += columns * rows * sizeof(JBLOCK);
    }
    header->exif = decoder->exif;
    header->iccChunkCount = decoder->chunkCount;
    if (!info->saw_JFIF_marker || info->X_density == 0 || info->Y_density == 0) return;
    header->densityUnit = info->density_unit == 1   ? CNukeJPEG_DensityUnitInch
                          : info->density_unit == 2 ? CNukeJPEG_DensityUnitCentimetre
                                                    : CNukeJPEG_DensityUnitNone;
    header->densityX = info->X_density;
    header->densityY = info->Y_density;
}

CNukeJPEG_Status CNukeJPEG_decoderReadHeader(
    CNukeJPEG_Decoder *decoder, CNukeJPEG_Input input, CNukeJPEG_Header *header) {
    if (decoder->failure.status) return decoder->failure.status;
    if (setjmp(decoder->failure.escape)) return decoder->failure.status;
    enter(decoder, input);
    int result = jpeg_read_header(&decoder->info, TRUE);
    leave(decoder);
    if (result == JPEG_SUSPENDED) return CNukeJPEG_StatusNeedsInput;
    decoder->isHeaderRead = 1;
    describe(decoder, header);
    return CNukeJPEG_StatusOk;
}

CNukeJPEG_Range CNukeJPEG_decoderICCChunk(const CNukeJPEG_Decoder *decoder, int index) {
    if (index < 0 || index >= decoder->chunkCount) return (CNukeJPEG_Range){0, 0};
    return decoder->chunks[index];
}

// MARK: Pixels

CNukeJPEG_Status CNukeJPEG_decoderStart(
    CNukeJPEG_Decoder *decoder, CNukeJPEG_Input input, int denominator, int *width, int *height) {
    if (decoder->failure.status) return decoder->failure.status;
    if (setjmp(decoder->failure.escape)) return decoder->failure.status;
    enter(decoder, input);
    struct jpeg_decompress_struct *info = &decoder->info;
    int isCMYK = info->jpeg_color_space == JCS_CMYK || info->jpeg_color_space == JCS_YCCK;
    info->out_color_space = isCMYK ? JCS_CMYK : JCS_EXT_RGBA;
    info->scale_num = 1;
    info->scale_denom = (unsigned)denominator;
    // Several scans are read into memory first, by steps that the caller counts, and then shown: what previews need too.
    info->buffered_image = jpeg_has_multiple_scans(info);
    boolean isStarted = jpeg_start_decompress(info);
    leave(decoder);
    *width = (int)info->output_width;
    *height = (int)info->output_height;
    return isStarted ? CNukeJPEG_StatusOk : CNukeJPEG_StatusNeedsInput;
}

// A component that no scan brought has no quantisation table yet.
static int lacksComponent(const struct jpeg_decompress_struct *info) {
    for (int i = 0; i < info->num_components; i++)
        if (!info->comp_info[i].quant_table) return 1;
    return 0;
}

// Takes note of a scan that has just come to its end, unless a marker cut it short.
static void completeScan(CNukeJPEG_Decoder *decoder) {
    const struct jpeg_decompress_struct *info = &decoder->info;
    if (decoder->damagedScan == info->input_scan_number) return;
    decoder->completeScan = info->input_scan_number;
    if (info->Ss != 0 || info->Ah != 0) return;
    for (int i = 0; i < info->comps_in_scan; i++)
        decoder->completeComponents |= 1u << info->cur_comp_info[i]->component_index;
}

// A scan is shown once the next one has begun, as the library may look ahead within the one that is being taken in.
static int showableScan(CNukeJPEG_Decoder *decoder) {
    const struct jpeg_decompress_struct *info = &decoder->info;
    if (decoder->completeComponents != (1u << info->num_components) - 1) return 0;
    int isNextBegun = decoder->completeScan < info->input_scan_number;
    return isNextBegun || jpeg_input_complete(&decoder->info) ? decoder->completeScan : 0;
}

CNukeJPEG_Status CNukeJPEG_decoderConsume(
    CNukeJPEG_Decoder *decoder, CNukeJPEG_Input input, int steps, CNukeJPEG_Progress *progress) {
    *progress = (CNukeJPEG_Progress){0};
    if (decoder->failure.status) return decoder->failure.status;
    if (setjmp(decoder->failure.escape)) return decoder->failure.status;
    enter(decoder, input);
    struct jpeg_decompress_struct *info = &decoder->info;
    int result = JPEG_ROW_COMPLETED;
    for (int step = 0; step < steps && result != JPEG_REACHED_EOI && result != JPEG_SUSPENDED; step++) {
        result = jpeg_consume_input(info);
        if (result == JPEG_SCAN_COMPLETED) completeScan(decoder);
        if (info->input_scan_number > decoder->limits.scanCount)
            CNukeJPEG_fail(&decoder->failure, CNukeJPEG_StatusLimitExceeded, "too many scans");
    }
    leave(decoder);
    progress->showableScan = showableScan(decoder);
    // Complete input suspends only where data is lacking and that is tolerated.
    if (result == JPEG_SUSPENDED && !input.isComplete) return CNukeJPEG_StatusNeedsInput;
    progress->isFinished = result == JPEG_REACHED_EOI || result == JPEG_SUSPENDED;
    if (progress->isFinished && decoder->failure.isInputOver && lacksComponent(info)) lackData(decoder);
    return CNukeJPEG_StatusOk;
}

CNukeJPEG_Status CNukeJPEG_decoderStartPass(CNukeJPEG_Decoder *decoder, CNukeJPEG_Input input, int scan) {
    if (decoder->failure.status) return decoder->failure.status;
    if (setjmp(decoder->failure.escape)) return decoder->failure.status;
    enter(decoder, input);
    struct jpeg_decompress_struct *info = &decoder->info;
    boolean isStarted = !decoder->isPassRunning || jpeg_finish_output(info);
    decoder->isPassRunning = decoder->isPassRunning && !isStarted;
    if (isStarted) {
        // Smoothing looks for the end of the last scan, which a file that was cut does not have.
        if (decoder->isTruncated) info->do_block_smoothing = FALSE;
        isStarted = jpeg_start_output(info, scan > 0 ? scan : info->input_scan_number);
        decoder->isPassRunning = 1;
    }
    leave(decoder);
    return isStarted ? CNukeJPEG_StatusOk : CNukeJPEG_StatusNeedsInput;
}

void CNukeJPEG_decoderKeepCMYK(CNukeJPEG_Decoder *decoder) { decoder->keepsCMYK = 1; }

// Stored samples are 1 - C, 1 - M, 1 - Y and 1 - K: the first three times the last are red, green and blue.
static void convertFromCMYK(uint8_t *row, size_t count) {
    for (uint8_t *pixel = row, *end = row + count * 4; pixel < end; pixel += 4) {
        unsigned black = pixel[3];
        for (int i = 0; i < 3; i++) {
            unsigned product = pixel[i] * black + 128;
            pixel[i] = (uint8_t)((product + (product >> 8)) >> 8);
        }
        pixel[3] = 255;
    }
}

CNukeJPEG_Status CNukeJPEG_decoderReadRows(
    CNukeJPEG_Decoder *decoder, CNukeJPEG_Input input, uint8_t *rows, size_t bytesPerRow, int count, int *rowsRead) {
    *rowsRead = 0;
    if (decoder->failure.status) return decoder->failure.status;
    if (setjmp(decoder->failure.escape)) return decoder->failure.status;
    enter(decoder, input);
    struct jpeg_decompress_struct *info = &decoder->info;
    if (bytesPerRow < (size_t)info->output_width * 4)
        CNukeJPEG_fail(&decoder->failure, CNukeJPEG_StatusCorrupt, "the rows given are too short");
    while (*rowsRead < count && info->output_scanline < info->output_height) {
        JSAMPROW pointers[rowsAtOnce];
        int wanted = count - *rowsRead < rowsAtOnce ? count - *rowsRead : rowsAtOnce;
        for (int i = 0; i < wanted; i++) pointers[i] = rows + (size_t)(*rowsRead + i) * bytesPerRow;
        JDIMENSION read = jpeg_read_scanlines(info, pointers, (JDIMENSION)wanted);
        if (read == 0) {
            leave(decoder);
            if (!input.isComplete) return CNukeJPEG_StatusNeedsInput;
            CNukeJPEG_fail(&decoder->failure, CNukeJPEG_StatusTruncated, "the data ends before the picture does");
        }
        if (info->out_color_space == JCS_CMYK && !decoder->keepsCMYK)
            for (JDIMENSION i = 0; i < read; i++) convertFromCMYK(pointers[i], info->output_width);
        *rowsRead += (int)read;
    }
    leave(decoder);
    return CNukeJPEG_StatusOk;
}

#else

CNukeJPEG_Decoder *CNukeJPEG_decoderCreate(CNukeJPEG_Limits limits) {
    (void)limits;
    return NULL;
}

void CNukeJPEG_decoderDestroy(CNukeJPEG_Decoder *decoder) { (void)decoder; }

const char *CNukeJPEG_decoderMessage(const CNukeJPEG_Decoder *decoder) {
    (void)decoder;
    return "";
}

long CNukeJPEG_decoderWarningCount(const CNukeJPEG_Decoder *decoder) {
    (void)decoder;
    return 0;
}

int CNukeJPEG_decoderIsTruncated(const CNukeJPEG_Decoder *decoder) {
    (void)decoder;
    return 0;
}

CNukeJPEG_Status CNukeJPEG_decoderReadHeader(
    CNukeJPEG_Decoder *decoder, CNukeJPEG_Input input, CNukeJPEG_Header *header) {
    (void)decoder, (void)input, (void)header;
    return CNukeJPEG_StatusUnavailable;
}

CNukeJPEG_Range CNukeJPEG_decoderICCChunk(const CNukeJPEG_Decoder *decoder, int index) {
    (void)decoder, (void)index;
    return (CNukeJPEG_Range){0, 0};
}

CNukeJPEG_Status CNukeJPEG_decoderStart(
    CNukeJPEG_Decoder *decoder, CNukeJPEG_Input input, int denominator, int *width, int *height) {
    (void)decoder, (void)input, (void)denominator, (void)width, (void)height;
    return CNukeJPEG_StatusUnavailable;
}

CNukeJPEG_Status CNukeJPEG_decoderConsume(
    CNukeJPEG_Decoder *decoder, CNukeJPEG_Input input, int steps, CNukeJPEG_Progress *progress) {
    (void)decoder, (void)input, (void)steps, (void)progress;
    return CNukeJPEG_StatusUnavailable;
}

CNukeJPEG_Status CNukeJPEG_decoderStartPass(CNukeJPEG_Decoder *decoder, CNukeJPEG_Input input, int scan) {
    (void)decoder, (void)input, (void)scan;
    return CNukeJPEG_StatusUnavailable;
}

void CNukeJPEG_decoderKeepCMYK(CNukeJPEG_Decoder *decoder) { (void)decoder; }

CNukeJPEG_Status CNukeJPEG_decoderReadRows(
    CNukeJPEG_Decoder *decoder, CNukeJPEG_Input input, uint8_t *rows, size_t bytesPerRow, int count, int *rowsRead) {
    (void)decoder, (void)input, (void)rows, (void)bytesPerRow, (void)count, (void)rowsRead;
    return CNukeJPEG_StatusUnavailable;
}

#endif
