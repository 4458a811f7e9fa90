#ifndef CNUKEJPEG_H
#define CNUKEJPEG_H
#endif
