/*
 * fuzz_remote.c: any bytes as messages to the process of a device, from its client and, where a bit
 * says so, from its supervisor. Every one must be answered or refused, whatever it holds.
 *
 * A message is a byte for the verb, one for who sends it, two for the length of what comes with it,
 * three words of eight bytes, and that. The two highest bits of a word say what it is: a small
 * number, an address of the device, one that the host shares, or as it stands. The bytes of sender
 * and length also say whose turn it is.
 */
#include "remote/server.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BUDGET = 3000, RUNS = 256 /* of one server */, HEAD = 4 + 3 * 8 };

static remote_server *server;
static unsigned char *window;

static device_options options(void)
{
    return (device_options){.memory_bytes = 64u << 20, .budget = BUDGET, .threads = 1};
}

static void open_server(bool supervised)
{
    static void *memory;

    if (!memory)
        memory = mmap(NULL, DEVICE_HOST_BYTES, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!window) window = calloc(1, REMOTE_WINDOW);
    if (!window || memory == MAP_FAILED) abort();
    server = calloc(1, sizeof *server);
    server->supervised = supervised;
    server->host_memory = (uint64_t)(uintptr_t)memory;
    if (!remote_device_open(server, 0, options())) abort();
}

static void close_server(void)
{
    for (uint32_t i = 0; server && i < REMOTE_DEVICES; i++) remote_device_close(server, i);
    free(server);
}

static uint64_t read_word(const uint8_t *data)
{
    uint64_t w;

    memcpy(&w, data, sizeof w);
    switch (w >> 62) {
    case 0: return w & 0xffff;
    case 1: return DEVICE_BASE + (w & 0xfffff);
    case 2: return DEVICE_BASE + DEVICE_OWN_BYTES + (w & 0xfffff);
    default: return w;
    }
}

/* What opens a device may ask for a large one and a long time, which is no defect. */
static void be_modest(const remote_request *q)
{
    const device_options o = options();

    if (q->verb != REMOTE_OPEN || q->payload != sizeof o) return;
    memcpy(window, &o, offsetof(device_options, checks));
}

/* @return how many bytes that was */
static size_t send_one(const uint8_t *data, size_t bytes)
{
    remote_request q = {.verb = data[0], .device = data[1] >> 5, .payload = data[2] | data[3] << 8};
    remote_reply reply;

    for (int i = 0; i < 3; i++) q.word[i] = read_word(data + 4 + 8 * i);
    q.small = data[1] >> 1 & 7;
    q.turn.lane = data[1] >> 1 & 3;
    q.turn.work = data[2] & 7;
    for (int i = 0; i < 4; i++) q.turn.after[i] = data[3] >> 2 * i & 3;
    for (int i = 0; i < 3; i++) {
        q.grid[i] = (uint32_t)(q.word[1] >> 8 * i & 3);
        q.block[i] = (uint32_t)(q.word[2] >> 8 * i & 63);
    }
    const size_t there = bytes - HEAD < q.payload ? bytes - HEAD : q.payload;
    memcpy(window, data + HEAD, there);
    be_modest(&q);
    remote_perform(server, server->supervised && (data[1] & 1), &q, window, &reply);
    if (reply.payload > REMOTE_WINDOW) abort();
    return HEAD + there;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static uint32_t runs;

    if (runs++ % RUNS == 0) {
        close_server();
        open_server(runs / RUNS % 2 == 0);
    }
    while (bytes >= HEAD) {
        size_t done = send_one(data, bytes);
        data += done;
        bytes -= done;
    }
    return 0;
}
