// libwebp, where its headers are installed.
#if __has_include(<webp/decode.h>) && __has_include(<webp/encode.h>)
#include <webp/decode.h>
#include <webp/encode.h>
#endif
