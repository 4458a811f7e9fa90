// libheif as its functions are called here: by a table that is filled when the library is opened.
#ifndef CNUKEHEIF_LIBRARY_H
#define CNUKEHEIF_LIBRARY_H

#include "CNukeHEIF.h"

#if __has_include(<libheif/heif.h>)
#define CNUKEHEIF_HAS_HEADERS 1
#include <libheif/heif.h>

#define CNUKEHEIF_FUNCTIONS(X) \
    X(get_version) \
    X(have_decoder_for_format) \
    X(have_encoder_for_format) \
    X(context_alloc) \
    X(context_free) \
    X(context_set_maximum_image_size_limit) \
    X(context_set_max_decoding_threads) \
    X(context_read_from_memory_without_copy) \
    X(context_get_primary_image_handle) \
    X(context_get_encoder_for_format) \
    X(context_encode_image) \
    X(context_add_exif_metadata) \
    X(context_write) \
    X(image_handle_release) \
    X(image_handle_get_width) \
    X(image_handle_get_height) \
    X(image_handle_get_ispe_width) \
    X(image_handle_get_ispe_height) \
    X(image_handle_has_alpha_channel) \
    X(image_handle_is_premultiplied_alpha) \
    X(image_handle_get_luma_bits_per_pixel) \
    X(image_handle_get_number_of_thumbnails) \
    X(image_handle_get_list_of_thumbnail_IDs) \
    X(image_handle_get_thumbnail) \
    X(image_handle_get_raw_color_profile_size) \
    X(image_handle_get_raw_color_profile) \
    X(image_handle_get_nclx_color_profile) \
    X(image_handle_get_list_of_metadata_block_IDs) \
    X(image_handle_get_metadata_size) \
    X(image_handle_get_metadata) \
    X(nclx_color_profile_alloc) \
    X(nclx_color_profile_free) \
    X(decoding_options_alloc) \
    X(decoding_options_free) \
    X(decode_image) \
    X(image_get_nclx_color_profile) \
    X(image_get_colorspace) \
    X(image_get_chroma_format) \
    X(image_get_width) \
    X(image_get_height) \
    X(image_get_bits_per_pixel_range) \
    X(image_has_channel) \
    X(image_get_plane_readonly) \
    X(image_get_plane) \
    X(image_release) \
    X(image_create) \
    X(image_add_plane) \
    X(image_set_raw_color_profile) \
    X(image_set_nclx_color_profile) \
    X(encoder_release) \
    X(encoder_set_lossy_quality) \
    X(encoder_set_parameter) \
    X(encoding_options_alloc) \
    X(encoding_options_free)

struct CNukeHEIF_Library {
#define CNUKEHEIF_MEMBER(name) __typeof__(heif_##name) *name;
    CNUKEHEIF_FUNCTIONS(CNUKEHEIF_MEMBER)
#undef CNUKEHEIF_MEMBER
};

// The status that an error stands for; its words, cut to fit, go to `message`.
CNukeHEIF_Status CNukeHEIF_statusOf(struct heif_error error, char *message, size_t size);

#endif
#endif
