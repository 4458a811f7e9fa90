#include "CNukeCurl.h"
