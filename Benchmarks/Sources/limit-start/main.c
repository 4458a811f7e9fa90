// W14: a process that does next to nothing.
#include <stdio.h>

int main(void) {
    puts("ready");
    return 0;
}
