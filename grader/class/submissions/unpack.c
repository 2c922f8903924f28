/*
 * unpack.c: archives from strangers. Each entry's name and kind are judged before a byte of it is
 * written, and bytes are counted as they come out, whatever the archive claims.
 */
#include "submissions.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const endings[] = {".zip", ".tar",     ".tar.gz", ".tgz",
                                      ".txz", ".tar.bz2", ".tar.xz", ".tar.zst"};

size_t archive_stem(const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t ending = strlen(endings[i]);
        if (length > ending && strcasecmp(name + length - ending, endings[i]) == 0) {
            return length - ending;
        }
    }
    return 0;
}

static unpacked refuse(char why[256], const char *what, const char *entry)
{
    snprintf(why, 256, "%s%s%.160s", what, entry ? ": " : "", entry ? entry : "");
    return REFUSED;
}

/* @return NO_ROOM when it is this machine that lacks something */
static unpacked cannot(char why[256], const char *what, const char *entry)
{
    const int error = errno;
    if (error != ENOSPC && error != EDQUOT && error != EIO && error != EFBIG && error != EROFS) {
        return refuse(why, what, entry);
    }
    refuse(why, what, strerror(error));
    return NO_ROOM;
}

/* @return what is wrong with a path, or NULL */
static const char *unsafe_path(const char *path)
{
    if (!path || !*path) return "an entry without a name";
    if (*path == '/') return "an absolute path";
    if (strchr(path, '\\')) return "a backslash in a path";
    if (strlen(path) > 1024) return "a path of more than 1024 characters";
    for (const char *at = path; *at; at += strcspn(at, "/"), at += *at == '/') {
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || !at[2])) return "\"..\" in a path";
    }
    return NULL;
}

static const char *unsafe_entry(struct archive_entry *entry)
{
    const mode_t type = archive_entry_filetype(entry);
    const char *wrong = unsafe_path(archive_entry_pathname(entry));
    if (wrong) return wrong;
    if (archive_entry_hardlink(entry) || archive_entry_symlink(entry) || type == S_IFLNK) {
        return "a link";
    }
    if (type != S_IFREG && type != S_IFDIR) return "neither a file nor a folder";
    if (archive_entry_is_encrypted(entry)) return "encrypted";
    return NULL;
}

static bool make_folders_above(char *path, size_t from)
{
    for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made) return false;
    }
    return true;
}

static unpacked copy_data(struct archive *from, int to, long long *left, char why[256])
{
    char block[1 << 16];
    for (;;) {
        const la_ssize_t n = archive_read_data(from, block, sizeof block);
        if (n == 0) return UNPACKED;
        if (n < 0) return refuse(why, "damaged", archive_error_string(from));
        if ((*left -= n) < 0) return refuse(why, "too many bytes", NULL);
        const ssize_t written = write(to, block, (size_t)n);
        if (written == n) continue;
        if (written >= 0) errno = ENOSPC; /* a part went in */
        return cannot(why, "cannot write", NULL);
    }
}

/* Names that a file of the archive has already taken are an error: the first one stays. */
static unpacked write_entry(struct archive *from, struct archive_entry *entry, const char *folder,
                            long long *left, char why[256])
{
    char path[PATH_MAX];
    const char *name = archive_entry_pathname(entry);
    snprintf(path, sizeof path, "%s/%s%s", folder, name,
             archive_entry_filetype(entry) == S_IFDIR ? "/" : "");
    if (!make_folders_above(path, strlen(folder) + 1)) {
        return cannot(why, "cannot make the folders of", name);
    }
    if (archive_entry_filetype(entry) == S_IFDIR) return UNPACKED;
    const int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (to < 0) return cannot(why, errno == EEXIST ? "twice the same file" : "cannot write", name);
    const unpacked end = copy_data(from, to, left, why);
    if (close(to) != 0 && end == UNPACKED) return cannot(why, "cannot write", name);
    return end;
}

static unpacked unpack_entries(struct archive *from, const char *folder, unpack_limits limits,
                               char why[256])
{
    struct archive_entry *entry;
    for (long entries = 0;; entries++) {
        const int status = archive_read_next_header(from, &entry);
        if (status == ARCHIVE_EOF) return UNPACKED;
        if (status < ARCHIVE_WARN) return refuse(why, "damaged", archive_error_string(from));
        if (entries >= limits.entries) return refuse(why, "too many entries", NULL);
        const char *wrong = unsafe_entry(entry);
        if (wrong) return refuse(why, wrong, archive_entry_pathname(entry));
        const unpacked end = write_entry(from, entry, folder, &limits.bytes, why);
        if (end != UNPACKED) return end;
    }
}

unpacked unpack(const char *archive, const char *folder, unpack_limits limits, char why[256])
{
    struct archive *from = archive_read_new();
    archive_read_support_format_zip(from);
    archive_read_support_format_tar(from);
    archive_read_support_filter_gzip(from);
    archive_read_support_filter_bzip2(from);
    archive_read_support_filter_xz(from);
    archive_read_support_filter_zstd(from);
    const unpacked end = archive_read_open_filename(from, archive, 1 << 16) == ARCHIVE_OK
                             ? unpack_entries(from, folder, limits, why)
                             : refuse(why, "damaged", archive_error_string(from));
    archive_read_free(from);
    return end;
}
