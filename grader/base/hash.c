/* hash.c: SHA-256 of texts and files, from libcrypto. */
#include "base.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct hash {
    EVP_MD_CTX *context;
};

hash *hash_begin(void)
{
    hash *h = calloc(1, sizeof *h);
    h->context = EVP_MD_CTX_new();
    EVP_DigestInit_ex(h->context, EVP_sha256(), NULL);
    return h;
}

void hash_text(hash *h, const char *text)
{
    EVP_DigestUpdate(h->context, text, strlen(text) + 1); /* the end counts: "a" "b" is not "ab" */
}

void hash_bytes(hash *h, const char *bytes, size_t count)
{
    EVP_DigestUpdate(h->context, bytes, count);
}

bool hash_file(hash *h, const char *path)
{
    char block[1 << 16];
    struct stat facts;
    const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ssize_t n = -1;
    if (file < 0) return false;
    if (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode)) { /* a pipe may have no end */
        while ((n = read(file, block, sizeof block)) > 0) {
            EVP_DigestUpdate(h->context, block, (size_t)n);
        }
    }
    close(file);
    return n == 0;
}

void hash_end(hash *h, char hex[HASH_HEX])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned bytes = 0;
    EVP_DigestFinal_ex(h->context, digest, &bytes);
    for (unsigned i = 0; i < bytes && 2 * i + 2 < HASH_HEX; i++) {
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    }
    EVP_MD_CTX_free(h->context);
    free(h);
}
