// libpng, where its headers are installed.
#if __has_include(<png.h>)
#include <png.h>
#endif
