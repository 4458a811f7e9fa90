#ifndef CNUKEPNG_H
#define CNUKEPNG_H
#endif
