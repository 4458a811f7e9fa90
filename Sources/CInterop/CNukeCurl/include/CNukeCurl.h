#ifndef CNUKECURL_H
#define CNUKECURL_H
#endif
