// libjpeg-turbo, where its headers are installed. jpeglib.h wants stdio.h before it.
#if __has_include(<jpeglib.h>)
#include <stdio.h>
#include <jpeglib.h>
#endif
