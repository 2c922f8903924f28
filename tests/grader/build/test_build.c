/*
 * test_build.c: from one source to one library (build.c, compiler.c, libraries.c), in a build
 * folder of its own: what is refused, what is said, what is exported, what is not built again.
 */
#include "grader/tests.h"

#include "build/compiling.h"
#include <dlfcn.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SOURCE                                                                                     \
    "int helper;\nvoid matmul_cpu(float *c, const float *a, const float *b, int m, int n, int k)"  \
    "\n{\n    (void)c, (void)a, (void)b, (void)m, (void)n, (void)k;\n}\n"

static char folder[64], file[128];
static options course;
static const char *whole_build;

static void start(void)
{
    char real[PATH_MAX + 32], here[128];
    char *arguments[] = {"unit_tests", "grade", NULL};
    ck_assert(options_parse(&course, 2, arguments) && sandbox_start(&course));
    snprintf(folder, sizeof folder, "/tmp/build.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    chmod(folder, 0755); /* compilers are another user */
    snprintf(real, sizeof real, "%s/libcourse.so", course.build);
    snprintf(here, sizeof here, "%s/libcourse.so", folder);
    ck_assert_int_eq(symlink(real, here), 0);
    snprintf(file, sizeof file, "%s/phase1_cpu/103_matmul_cpu/103_matmul_cpu.c", folder);
    make_folders_of(file);
    whole_build = course.build;
    course.build = folder;
    snprintf(here, sizeof here, "%s/cache", folder);
    setenv("COURSE_CACHE", here, 1);
}

static void stop(void)
{
    remove_tree(folder);
}

static void put(const char *text)
{
    FILE *to = fopen(file, "w");
    ck_assert_ptr_nonnull(to);
    fputs(text, to);
    fclose(to);
}

/* Builds the one file. The caller frees its log. */
static build built_as(bool own)
{
    build b = {.own = own,
               .exercise = catalog_find(103),
               .root = folder,
               .file = "phase1_cpu/103_matmul_cpu/103_matmul_cpu.c",
               .place = ON_HOST};
    build *all[] = {&b};
    build_all(&course, all, 1);
    return b;
}

static build built(void)
{
    return built_as(false);
}

static void expect_refused(const char *words)
{
    build b = built();
    ck_assert(!b.ok);
    ck_assert_msg(strstr(b.log, words) != NULL, "%s", b.log);
    free(b.log);
}

START_TEST(a_library_exports_the_contract_only)
{
    put(SOURCE);
    build b = built();
    ck_assert_msg(b.ok, "%s", b.log);
    ck_assert_str_eq(b.log, "");
    void *library = dlopen(b.library, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
    ck_assert_ptr_nonnull(dlsym(library, "matmul_cpu"));
    ck_assert_ptr_null(dlsym(library, "helper"));
    dlclose(library);
    free(b.log);
}
END_TEST

/* Where the GPU has it, and the guarded path elsewhere. */
START_TEST(sm_90a_is_asked_for)
{
    static const char source[] =
        "#include <cuda_runtime.h>\n"
        "__global__ static void kernel(void)\n{\n"
        "#if defined __CUDA_ARCH_FEAT_SM90_ALL\n"
        "    asm volatile(\"wgmma.fence.sync.aligned;\");\n"
        "#elif __CUDA_ARCH__ >= 900\n#error plain sm_90\n#endif\n}\n"
        "extern \"C\" void vector_add(void)\n{\n    kernel<<<1, 128>>>();\n}\n";
    static const place places[] = {ON_GPU, ON_SOFTGPU};
    const char *nvcc = getenv("NVCC"), *runtime = getenv("CUDA_LIB");
    if (!nvcc || !*nvcc || !runtime || !*runtime) return;
    exercise e = *catalog_find(203);
    e.sm_90a = true;
    setenv("GPU_ARCH", "90", 1);
    snprintf(file, sizeof file, "%s/%s", folder, e.file);
    make_folders_of(file);
    put(source);
    build b = {.exercise = &e, .root = folder, .file = e.file, .place = places[_i]};
    build *all[] = {&b};
    char real[PATH_MAX + 32], here[128];
    snprintf(real, sizeof real, "%s/libsoftgpu.so", whole_build);
    snprintf(here, sizeof here, "%s/libsoftgpu.so", folder);
    ck_assert_int_eq(symlink(real, here), 0);
    build_all(&course, all, 1);
    ck_assert_msg(b.ok, "%s", b.log);
    free(b.log);
}
END_TEST

START_TEST(what_is_built_stays)
{
    struct stat before, after;
    put(SOURCE);
    build first = built();
    ck_assert_int_eq(stat(first.library, &before), 0);
    build second = built();
    ck_assert(second.ok);
    ck_assert_str_eq(first.library, second.library);
    ck_assert_int_eq(stat(second.library, &after), 0);
    ck_assert_uint_eq(before.st_ino, after.st_ino);
    put(SOURCE "int more;\n");
    build third = built();
    ck_assert(third.ok);
    ck_assert_str_ne(first.key, third.key);
    ck_assert_str_ne(first.source, third.source);
    free(first.log), free(second.log), free(third.log);
}
END_TEST

static const struct {
    const char *source, *words;
} broken[] = {
    {"void matmul_cpu(float *c)\n{\n    return 1 +;\n}\n", "103_matmul_cpu.c:3"},
    {"#error nothing here\n", "nothing here"},
    {"#include \"no_such.h\"\n", "no_such.h"},
    {"void missing(void);\nvoid matmul_cpu(void) { missing(); }\n", "missing"},
    {"\x01\x02\xff", "error"},
};

START_TEST(what_compilers_say_is_kept)
{
    put(broken[_i].source);
    expect_refused(broken[_i].words);
    expect_refused(broken[_i].words); /* from its folder this time */
}
END_TEST

static void put_compiler(const char *place, const char *action)
{
    char path[160];
    snprintf(path, sizeof path, "%s/bin/cc", place);
    make_folders_of(path);
    FILE *to = fopen(path, "w");
    ck_assert_ptr_nonnull(to);
    fprintf(to, "#!/bin/sh\n[ \"$1\" = --version ] || %s\nexec cc \"$@\"\n", action);
    fclose(to);
    chmod(path, 0755);
    setenv("CC", path, 1);
}

/* As the system does where memory ends. */
START_TEST(a_compiler_that_was_killed_is_tried_again)
{
    char place[] = "/tmp/compiler.XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(place));
    chmod(place, 0755);
    put(SOURCE);
    put_compiler(place, "kill -KILL $$");
    build first = built();
    ck_assert(!first.ok);
    put_compiler(place, ":");
    build second = built();
    remove_tree(place);
    ck_assert_msg(second.ok, "%s", second.log);
    free(first.log), free(second.log);
}
END_TEST

static bool is_compiling(void)
{
    char pattern[96];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/objects/work_*", folder);
    const bool any = glob(pattern, 0, NULL, &found) == 0;
    globfree(&found);
    return any;
}

START_TEST(nobody_waits_for_anothers_slow_source)
{
    char place[] = "/tmp/compiler.XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(place));
    chmod(place, 0755);
    put(SOURCE "/* slow */\n");
    const pid_t other = fork();
    if (other == 0) {
        put_compiler(place, "sleep 100");
        _exit(built_as(true).ok);
    }
    while (!is_compiling()) usleep(1000);
    put(SOURCE);
    build b = built_as(true);
    ck_assert_int_eq(waitpid(other, NULL, WNOHANG), 0); /* it still compiles */
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    remove_tree(place);
    ck_assert_msg(b.ok, "%s", b.log);
    free(b.log);
}
END_TEST

START_TEST(the_same_source_is_compiled_once)
{
    enum { GRADERS = 4 };
    char place[] = "/tmp/compiler.XXXXXX";
    pid_t graders[GRADERS];
    int compiled = 0;
    ck_assert_ptr_nonnull(mkdtemp(place));
    chmod(place, 0755);
    put(SOURCE);
    put_compiler(place, "sleep 0.5");
    for (int i = 0; i < GRADERS; i++) {
        graders[i] = fork();
        if (graders[i] != 0) continue;
        const build b = built_as(i % 2);
        _exit(!b.ok ? 100 : b.seconds > 0);
    }
    for (int i = 0, status; i < GRADERS; i++) {
        ck_assert_int_eq(waitpid(graders[i], &status, 0), graders[i]);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) <= 1);
        compiled += WEXITSTATUS(status);
    }
    remove_tree(place);
    ck_assert_int_eq(compiled, 1);
}
END_TEST

START_TEST(a_warning_is_no_error)
{
    put(SOURCE "static int unused;\n");
    build b = built();
    ck_assert(b.ok);
    ck_assert_ptr_nonnull(strstr(b.log, "unused"));
    free(b.log);
}
END_TEST

static const struct {
    const char *said, *once;
} logs[] = {
    {"a.cu(2): warning #177-D: x\n  int x;\n      ^\n\nRemark: The warnings can be suppressed with "
     "y\n\n"
     "a.cu(3): warning #177-D: z\n\na.cu(2): warning #177-D: x\n  int x;\n      ^\n\n",
     "a.cu(2): warning #177-D: x\n  int x;\n      ^\n\na.cu(3): warning #177-D: z\n\n"},
    {"a.cu(3): warning #177-D: g\n\na.cu:3:13: warning: unused g\na.cu:4:13: warning: unused h\n",
     "a.cu(3): warning #177-D: g\n\na.cu:4:13: warning: unused h\n"},
    {"a.cu:4:1: warning: b\n  c\n1 warning generated when compiling for host.\n",
     "a.cu:4:1: warning: b\n  c\n"},
    {"a.cu:4:1: error: b\na.cu:4:1: error: b\n", "a.cu:4:1: error: b\na.cu:4:1: error: b\n"},
    {"", ""},
};

START_TEST(a_warning_is_said_once)
{
    char text[512];
    snprintf(text, sizeof text, "%s", logs[_i].said);
    log_once(text);
    ck_assert_str_eq(text, logs[_i].once);
}
END_TEST

START_TEST(what_is_no_source_is_refused)
{
    expect_refused("has no file");
    ck_assert_int_eq(mkdir(file, 0700), 0);
    expect_refused("not a regular file");
    rmdir(file);
    ck_assert_int_eq(mkfifo(file, 0600), 0);
    expect_refused("not a regular file");
    unlink(file);
    ck_assert_int_eq(symlink("/etc/hostname", file), 0);
    expect_refused("not a regular file");
    unlink(file);
    put("");
    ck_assert_int_eq(truncate(file, (1 << 20) + 1), 0);
    expect_refused("1 MiB");
}
END_TEST

START_TEST(nothing_stands_on_what_did_not_build)
{
    build needed = {.exercise = catalog_find(104),
                    .root = folder,
                    .file = "phase1_cpu/104_matmul_cpu_ikj/104_matmul_cpu_ikj.c",
                    .place = ON_HOST};
    put(SOURCE);
    build b = {.exercise = catalog_find(103),
               .root = folder,
               .file = "phase1_cpu/103_matmul_cpu/103_matmul_cpu.c",
               .place = ON_HOST,
               .needs = {&needed}};
    build *all[] = {&needed, &b};
    build_all(&course, all, 2);
    ck_assert(!needed.ok && !b.ok);
    ck_assert_ptr_nonnull(
        strstr(b.log, "it needs phase1_cpu/104_matmul_cpu_ikj/104_matmul_cpu_ikj.c"));
    free(needed.log), free(b.log);
}
END_TEST

START_TEST(equal_sources_are_built_once)
{
    put(SOURCE);
    const build one = {.exercise = catalog_find(103),
                       .root = folder,
                       .file = "phase1_cpu/103_matmul_cpu/103_matmul_cpu.c",
                       .place = ON_HOST};
    build many[3] = {one, one, one}, *all[] = {&many[0], &many[1], &many[2]};
    build_all(&course, all, 3);
    for (int i = 0; i < 3; i++) {
        ck_assert(many[i].ok);
        ck_assert_str_eq(many[i].library, many[0].library);
        free(many[i].log);
    }
}
END_TEST

START_TEST(references_are_made_on_demand_and_once)
{
    const exercise *network = catalog_find(501), *product = catalog_find(206);
    library_set *set = library_set_create(&course, NULL);
    build a = {.exercise = network}, b = {.exercise = network};
    library_set_needs(set, &a);
    library_set_needs(set, &b);
    for (int i = 0; network->prerequisites[i]; i++) {
        ck_assert_ptr_eq(a.needs[i], b.needs[i]);
        ck_assert_int_eq(a.needs[i]->exercise->id, network->prerequisites[i]);
    }
    const build *baseline = library_set_baseline(set, product);
    ck_assert(baseline && baseline->baseline);
    ck_assert_ptr_eq(library_set_baseline(set, product), baseline);
    ck_assert_ptr_null(library_set_baseline(set, catalog_find(103))); /* it is not timed */
    library_set_free(set);
}
END_TEST

/* A course of its own, with one header that the source includes, and one that it does not. */
static void put_header(const char *name, const char *text)
{
    char path[160];
    snprintf(path, sizeof path, "%s/course/phase1_cpu/%s", folder, name);
    make_folders_of(path);
    FILE *to = fopen(path, "w");
    ck_assert_ptr_nonnull(to);
    fputs(text, to);
    fclose(to);
}

static void use_own_course(char root[PATH_MAX])
{
    snprintf(root, PATH_MAX, "%s/course", folder);
    course.root = root;
    put_header("included.h", "#define ONE 1\n");
    put_header("103_matmul_cpu/own.h", "#include \"included.h\"\n");
    put_header("other.h", "#define TWO 2\n");
    put("#include \"103_matmul_cpu/own.h\"\nint one = ONE;\n" SOURCE);
}

START_TEST(a_header_rebuilds_what_includes_it)
{
    char root[PATH_MAX];
    use_own_course(root);
    build first = built();
    ck_assert_msg(first.ok && first.seconds > 0, "%s", first.log);
    put_header("other.h", "#define TWO 2 /* a comment */\n");
    build second = built();
    ck_assert_msg(second.ok && second.seconds == 0, "%s", second.log);
    ck_assert_str_eq(second.library, first.library);
    put_header("included.h", "#define ONE 1 /* a comment */\n");
    build third = built();
    ck_assert_msg(third.ok && third.seconds > 0, "%s", third.log);
    ck_assert_str_ne(third.key, first.key);
    put_header("included.h", "#define ONE 1\n"); /* as it was */
    build fourth = built();
    ck_assert(fourth.ok && fourth.seconds == 0);
    ck_assert_str_eq(fourth.library, first.library);
    free(first.log), free(second.log), free(third.log), free(fourth.log);
}
END_TEST

/* Whatever it does not include then, once it compiles. */
START_TEST(a_header_rebuilds_what_did_not_compile)
{
    char root[PATH_MAX];
    use_own_course(root);
    put("#include \"included.h\"\nint three = THREE;\n" SOURCE);
    build first = built();
    ck_assert(!first.ok);
    put_header("included.h", "#define THREE 3\n");
    build second = built();
    ck_assert_msg(second.ok, "%s", second.log);
    free(first.log), free(second.log);
}
END_TEST

/* Another build folder links anew, and compiles nothing. */
START_TEST(objects_are_shared)
{
    char other[128], real[PATH_MAX + 32], here[PATH_MAX];
    put(SOURCE "static int unused;\n");
    build first = built();
    ck_assert(first.ok && first.seconds > 0);
    snprintf(other, sizeof other, "%s/other", folder);
    mkdir(other, 0755);
    snprintf(real, sizeof real, "%s/libcourse.so", whole_build);
    snprintf(here, sizeof here, "%s/libcourse.so", other);
    ck_assert_int_eq(symlink(real, here), 0);
    course.build = other;
    build second = built();
    ck_assert_msg(second.ok && second.seconds == 0, "%s", second.log);
    ck_assert_str_eq(second.log, first.log);
    ck_assert_str_ne(second.library, first.library);
    free(first.log), free(second.log);
}
END_TEST

/* Nobody else may put objects there. */
START_TEST(a_cache_that_others_may_write_is_closed)
{
    struct stat facts;
    char path[128];
    snprintf(path, sizeof path, "%s/cache", folder);
    ck_assert_int_eq(mkdir(path, 0777), 0);
    chmod(path, 0777);
    put(SOURCE);
    build b = built();
    ck_assert(b.ok);
    ck_assert(stat(path, &facts) == 0 && (facts.st_mode & 0777) == 0700);
    free(b.log);
}
END_TEST

Suite *suite_build(void)
{
    Suite *suite = suite_create("build");
    TCase *tcase = tcase_create("build");
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_test(tcase, a_library_exports_the_contract_only);
    tcase_add_test(tcase, what_is_built_stays);
    tcase_add_test(tcase, a_header_rebuilds_what_includes_it);
    tcase_add_test(tcase, a_header_rebuilds_what_did_not_compile);
    tcase_add_test(tcase, objects_are_shared);
    tcase_add_test(tcase, a_cache_that_others_may_write_is_closed);
    tcase_add_loop_test(tcase, sm_90a_is_asked_for, 0, 2);
    tcase_add_loop_test(tcase, what_compilers_say_is_kept, 0, sizeof broken / sizeof *broken);
    tcase_add_test(tcase, a_compiler_that_was_killed_is_tried_again);
    tcase_add_test(tcase, a_warning_is_no_error);
    tcase_add_test(tcase, nobody_waits_for_anothers_slow_source);
    tcase_add_test(tcase, the_same_source_is_compiled_once);
    tcase_add_loop_test(tcase, a_warning_is_said_once, 0, sizeof logs / sizeof *logs);
    tcase_add_test(tcase, what_is_no_source_is_refused);
    tcase_add_test(tcase, nothing_stands_on_what_did_not_build);
    tcase_add_test(tcase, equal_sources_are_built_once);
    tcase_add_test(tcase, references_are_made_on_demand_and_once);
    suite_add_tcase(suite, tcase);
    return suite;
}
