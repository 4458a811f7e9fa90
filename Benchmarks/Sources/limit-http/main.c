// W10: libcurl's multi interface, bodies kept in memory: limit-http URL COUNT CONCURRENCY
// Files are URL/0000.jpg and so on. Prints "<cpu ms> <wall ms>".
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    CURL *easy;
    unsigned char *bytes;
    size_t count, capacity;
    char url[256];
} Slot;

static double milliseconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static size_t receive(char *data, size_t size, size_t items, void *context) {
    Slot *slot = context;
    size_t count = size * items;
    if (slot->count + count > slot->capacity) {
        slot->capacity = (slot->count + count) * 2;
        slot->bytes = realloc(slot->bytes, slot->capacity);
    }
    memcpy(slot->bytes + slot->count, data, count);
    slot->count += count;
    return count;
}

static void start(CURLM *multi, Slot *slot, const char *base, int number) {
    if (!slot->easy) {
        slot->easy = curl_easy_init();
        curl_easy_setopt(slot->easy, CURLOPT_WRITEFUNCTION, receive);
        curl_easy_setopt(slot->easy, CURLOPT_WRITEDATA, slot);
        curl_easy_setopt(slot->easy, CURLOPT_PRIVATE, slot);
        curl_easy_setopt(slot->easy, CURLOPT_BUFFERSIZE, 65536L);
        curl_easy_setopt(slot->easy, CURLOPT_NOSIGNAL, 1L);
    }
    snprintf(slot->url, sizeof slot->url, "%s/%04d.jpg", base, number);
    slot->count = 0;
    curl_easy_setopt(slot->easy, CURLOPT_URL, slot->url);
    curl_multi_add_handle(multi, slot->easy);
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    int count = atoi(argv[2]), concurrency = atoi(argv[3]), next = 0, finished = 0, running = 0;
    double cpu = milliseconds(CLOCK_PROCESS_CPUTIME_ID), wall = milliseconds(CLOCK_MONOTONIC);
    curl_global_init(CURL_GLOBAL_ALL);
    CURLM *multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)concurrency);
    Slot *slots = calloc((size_t)concurrency, sizeof *slots);
    for (int i = 0; i < concurrency && next < count; i++) start(multi, &slots[i], argv[1], next++);
    while (finished < count) {
        curl_multi_perform(multi, &running);
        int left, done = 0;
        for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
            Slot *slot;
            long status;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &slot);
            curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
            if (message->data.result || status != 200) return 1;
            curl_multi_remove_handle(multi, slot->easy);
            finished++;
            done = 1;
            if (next < count) start(multi, slot, argv[1], next++);
        }
        if (!done && running) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
    printf("%.6f %.6f\n", milliseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu, milliseconds(CLOCK_MONOTONIC) - wall);
    return 0;
}
