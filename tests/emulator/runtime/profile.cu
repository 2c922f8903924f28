/* profile.cu: what SOFTGPU_PROFILE prints. Each case runs a child with the variable set and reads
 * what it left. */
#include "check.h"

#include <string>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1000 };

__global__ void scale(const float *from, float *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = 3 * from[i]; // the line that costs
}

__global__ void never_launched(float *to)
{
    to[threadIdx.x] = 0;
}

static void launch_twice()
{
    float *from = to_device(std::vector<float>(N, 1.0f)), *to = device_array<float>(N);
    for (int i = 0; i < 2; i++) scale<<<4, 256>>>(from, to, N);
    SYNC();
    if (from == to) never_launched<<<1, 1>>>(to);
}

static void launch_around_a_reset()
{
    launch_twice();
    OK(cudaDeviceReset());
    launch_twice();
}

static void launch_on_two_devices()
{
    launch_twice();
    OK(cudaSetDevice(1));
    launch_twice();
}

static void launch_and_fork()
{
    launch_twice();
    if (fork() == 0) exit(0);
    wait(nullptr);
}

static std::string read_file(const std::string &name)
{
    std::string text;
    FILE *file = fopen(name.c_str(), "r");
    for (int c; file && (c = fgetc(file)) != EOF;) text += (char)c;
    if (file) fclose(file);
    remove(name.c_str());
    return text;
}

/** What a child leaves that runs `work` with SOFTGPU_PROFILE=how: `file`, or its stderr. */
static std::string profile_of(void (*work)(), const char *how, bool file)
{
    char name[] = "/tmp/softgpu-profile-XXXXXX";
    int fd = mkstemp(name), status = 1;
    if (fork() == 0) {
        setenv("SOFTGPU_PROFILE", (how + std::string(file ? name : "")).c_str(), 1);
        if (!file) dup2(fd, 2);
        work();
        exit(failures != 0);
    }
    wait(&status);
    close(fd);
    CHECK(status == 0);
    return read_file(name);
}

static bool has(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

static int times(const std::string &text, const std::string &part)
{
    int n = 0;
    for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) n++;
    return n;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/** Skips one value. @return what follows, or nullptr: it is none. */
static const char *skip_value(const char *at);

static const char *skip_text(const char *at)
{
    if (*at++ != '"') return nullptr;
    for (; *at && *at != '"'; at++) {
        if ((unsigned char)*at < ' ') return nullptr;
        if (*at == '\\') at++;
    }
    return *at ? at + 1 : nullptr;
}

static const char *skip_list(const char *at, char end, bool members)
{
    at += strspn(at, " \n");
    if (*at == end) return at + 1;
    for (;; at++) {
        at += strspn(at, " \n");
        if (members && (!(at = skip_text(at)) || *at++ != ':')) return nullptr;
        if (!(at = skip_value(at))) return nullptr;
        at += strspn(at, " \n");
        if (*at == end) return at + 1;
        if (*at != ',') return nullptr;
    }
}

static const char *skip_value(const char *at)
{
    at += strspn(at, " \n");
    if (*at == '{') return skip_list(at + 1, '}', true);
    if (*at == '[') return skip_list(at + 1, ']', false);
    if (*at == '"') return skip_text(at);
    char *end;
    strtod(at, &end);
    return end == at ? nullptr : end;
}

static bool is_json(const std::string &text)
{
    const char *end = skip_value(text.c_str());
    return end && !strcmp(end, "\n");
}

CASE(json)
{
    std::string text = profile_of(launch_twice, "json:", true);
    CHECK(is_json(text));
    CHECK(has(text, "{\"name\":\"scale\",\"counts\":{\"launches\":2,\"blocks\":8,\"warps\":64"));
    CHECK(has(text, "\"global_load\":{\"requests\":64,\"sectors\":250,\"bytes\":8000}"));
    CHECK(has(text, "\"to_device\":{\"count\":1,\"bytes\":4000}"));
    CHECK(has(text, "\"opcode\":\"ld.global.f32\",\"counts\":{\"instructions\":64"));
    CHECK(times(text, "\"grid\":[4,1,1],\"block\":[256,1,1]") == 2);
    CHECK(!has(text, "never_launched"));
}

CASE(json_of_a_program_without_kernels)
{
    CHECK(is_json(profile_of([] {}, "json:", true)));
}

CASE(json_is_the_same_every_time)
{
    setenv("SOFTGPU_THREADS", "1", 1);
    std::string one = profile_of(launch_twice, "json:", true);
    setenv("SOFTGPU_THREADS", "4", 1);
    for (int i = 0; i < 3; i++) CHECK(profile_of(launch_twice, "json:", true) == one);
}

CASE(json_cannot_be_written)
{
    std::string text = profile_of(launch_twice, "json:/nowhere/at/all", false);
    CHECK(text == "softgpu: the profile cannot be written to /nowhere/at/all\n");
}

CASE(a_reset_loses_nothing)
{
    std::string text = profile_of(launch_around_a_reset, "json:", true);
    CHECK(is_json(text));
    CHECK(times(text, "\"name\":\"scale\"") == 1);
    CHECK(has(text, "{\"name\":\"scale\",\"counts\":{\"launches\":4"));
    CHECK(times(text, "{\"kernel\":0,") == 4);
}

CASE(all_devices_are_shown)
{
    setenv("SOFTGPU_DEVICES", "2", 1);
    std::string text = profile_of(launch_on_two_devices, "json:", true);
    CHECK(has(text, "{\"name\":\"scale\",\"counts\":{\"launches\":4"));
}

/* ---- for people ------------------------------------------------------------------------------ */

CASE(table)
{
    std::string text = profile_of(launch_twice, "1", false);
    CHECK(has(text, "softgpu: what the kernels cost\n"));
    CHECK(has(text, "  scale  "));
    CHECK(has(text, "64 requests, 250 sectors: 3.9 a request; 8,000 bytes wanted, 100% of it"));
    CHECK(has(text, "2,000 operations"));
    CHECK(has(text, "to the device   1, 4,000 bytes"));
    CHECK(!has(text, "the line that costs"));
}

CASE(source)
{
    std::string text = profile_of(launch_twice, "source", false);
    CHECK(times(text, "250    3.9") == 0);
    CHECK(has(text, "500    3.9")); /* loads and stores of the line */
    CHECK(times(text, "// the line that costs") == 1);
    CHECK(!has(text, "to[threadIdx.x] = 0;"));
}

CASE(nothing_when_not_asked)
{
    CHECK(profile_of(launch_twice, "", false) == "");
    CHECK(profile_of(launch_twice, "0", false) == "");
    CHECK(profile_of(launch_twice, "off", false) == "");
}

CASE(children_say_nothing)
{
    CHECK(times(profile_of(launch_and_fork, "1", false), "what the kernels cost") == 1);
}
