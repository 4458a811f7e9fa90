#include "CNukeJPEG.h"
