#include "CNukePNG.h"
