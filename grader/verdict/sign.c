/*
 * sign.c: the instructor's signature under results.json: an HMAC over everything else that is in
 * it. The compact text with sorted keys is signed, so neither spaces nor order count. Numbers are
 * written with as many digits as they have, and are the same after they were read.
 */
#include "verdict.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ALGORITHM "HMAC-SHA256"
#define KEY_LEAST 16
#define KEY_MOST  4096

/* ---- the key --------------------------------------------------------------------------------- */

static bool refuse_key(const char *path, const char *why)
{
    fprintf(stderr, "grader: the key %s %s\n", path, why);
    return false;
}

static void write_hex(char *to, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) snprintf(to + 2 * i, 3, "%02x", bytes[i]);
}

static void name_key(signing_key *key)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    EVP_Digest(key->bytes, key->count, digest, NULL, EVP_sha256(), NULL);
    write_hex(key->id, digest, sizeof key->id / 2);
}

bool key_read(signing_key *key, const char *path)
{
    struct stat facts;
    *key = (signing_key){0};
    if (stat(path, &facts) != 0) return refuse_key(path, strerror(errno));
    if (!S_ISREG(facts.st_mode)) return refuse_key(path, "is no file");
    if (facts.st_size < KEY_LEAST) return refuse_key(path, "has less than 16 bytes");
    if (facts.st_size > KEY_MOST) return refuse_key(path, "has more than 4096 bytes");
    if (facts.st_mode & 077) {
        fprintf(stderr, "grader: warning: others may read the key %s: chmod 600\n", path);
    }
    FILE *file = fopen(path, "rb");
    if (!file) return refuse_key(path, strerror(errno));
    setbuf(file, NULL); /* no second copy of it */
    key->bytes = calloc(1, KEY_MOST);
    key->count = fread(key->bytes, 1, (size_t)facts.st_size, file);
    fclose(file);
    name_key(key);
    return key->count == (size_t)facts.st_size || refuse_key(path, "cannot be read");
}

void key_free(signing_key *key)
{
    if (key->bytes) OPENSSL_cleanse(key->bytes, KEY_MOST);
    free(key->bytes);
    *key = (signing_key){0};
}

/* ---- the signature --------------------------------------------------------------------------- */

/* @return false when the results cannot be written down */
static bool authenticate(const json_t *results, const signing_key *key, char hex[HASH_HEX])
{
    unsigned char code[EVP_MAX_MD_SIZE];
    unsigned bytes = 0;
    json_t *rest = json_copy((json_t *)results);
    json_object_del(rest, "signature");
    char *text = json_dumps(rest, JSON_COMPACT | JSON_SORT_KEYS);
    if (text) {
        HMAC(EVP_sha256(), key->bytes, (int)key->count, (unsigned char *)text, strlen(text), code,
             &bytes);
        write_hex(hex, code, bytes);
    }
    free(text);
    json_decref(rest);
    return bytes == (HASH_HEX - 1) / 2;
}

bool results_sign(json_t *results, const signing_key *key)
{
    char hex[HASH_HEX];
    if (!authenticate(results, key, hex)) return false;
    return json_object_set_new(results, "signature",
                               json_pack("{s:s, s:s, s:s}", "algorithm", ALGORITHM, "key_id",
                                         key->id, "value", hex)) == 0;
}

static const char *member(const json_t *signature, const char *name)
{
    const char *text = json_string_value(json_object_get(signature, name));
    return text ? text : "";
}

const char *signature_flaw(const json_t *results, const signing_key *key)
{
    char hex[HASH_HEX];
    const json_t *signature = json_object_get(results, "signature");
    const char *value = member(signature, "value");
    if (!signature) return "there is none";
    if (json_object_size(signature) != 3) return "it lacks one of the three fields of a signature";
    if (strcmp(member(signature, "algorithm"), ALGORITHM) != 0) return "its algorithm is another";
    if (strcmp(member(signature, "key_id"), key->id) != 0) return "it was made with another key";
    if (strlen(value) != HASH_HEX - 1 || !authenticate(results, key, hex) ||
        CRYPTO_memcmp(value, hex, HASH_HEX - 1) != 0) {
        return "the results are not those that were signed";
    }
    return NULL;
}
