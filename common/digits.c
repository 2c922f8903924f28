#include "digits.h"

#include "idx.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_POINTS   16    /* of a stroke */
#define CURVE_PIECES 4     /* straight lines between two points of a stroke */
#define BOX          20.0f /* pixels; the height of a digit, as in MNIST */

/*
 * The strokes of each digit as points "x,y" in per cent of a box, y downwards. A stroke is a smooth
 * curve through its points; a point that comes twice makes a corner; a slash lifts the pen.
 */
static const char *const digit_strokes[10] = {
    "50,2 20,15 12,50 20,85 50,98 80,85 88,50 80,15 50,2",
    "30,20 52,2 52,2 52,98",
    "15,25 30,5 65,4 82,25 65,55 15,96 15,96 88,96",
    "17,12 50,2 80,20 70,42 42,48 42,48 75,56 85,78 55,98 14,88",
    "62,2 12,65 12,65 90,65 / 65,40 65,98",
    "80,4 25,4 25,4 20,45 20,45 55,38 84,60 70,92 40,98 14,88",
    "70,3 35,25 15,65 30,95 65,95 82,72 62,50 30,55 17,72",
    "12,5 85,5 85,5 55,50 40,98",
    "50,48 22,30 30,6 70,6 78,30 50,48 17,72 30,96 70,96 83,72 50,48",
    "80,25 60,48 30,45 18,25 35,4 65,4 82,25 78,60 60,98",
};

typedef struct {
    float x, y;
} point;

/* How one image is written. */
typedef struct {
    float turn[2][2]; /* box to pixels: stretched, slanted, turned */
    point centre;     /* pixels */
    point wave;       /* radians across the box: strokes are bent along this direction */
    point bend;       /* how far, as a share of the box */
    float phase;      /* radians */
    float radius;     /* of the pen, pixels */
    float noise;      /* the most that is added to a pixel of 0 .. 1 or taken away */
} handwriting;

static handwriting random_handwriting(random_state *rng)
{
    float angle = random_uniform(rng, -0.35f, 0.35f), slant = random_uniform(rng, -0.35f, 0.35f);
    float width = BOX * random_uniform(rng, 0.6f, 1.0f);
    float height = BOX * random_uniform(rng, 0.75f, 1.05f);
    return (handwriting){
        .turn = {{width * cosf(angle), height * (slant * cosf(angle) - sinf(angle))},
                 {width * sinf(angle), height * (slant * sinf(angle) + cosf(angle))}},
        .centre = {random_uniform(rng, 11.5f, 15.5f), random_uniform(rng, 11.5f, 15.5f)},
        .wave = {random_uniform(rng, -5, 5), random_uniform(rng, -5, 5)},
        .bend = {random_uniform(rng, -0.12f, 0.12f), random_uniform(rng, -0.12f, 0.12f)},
        .phase = random_uniform(rng, 0, 6.2831853f),
        .radius = random_uniform(rng, 0.5f, 1.7f),
        .noise = random_uniform(rng, 0, 0.35f),
    };
}

/* Where a point of the box, 0 .. 1 both ways, goes in the image, in pixels. */
static point place(const handwriting *hand, point p)
{
    float wave = sinf(hand->wave.x * p.x + hand->wave.y * p.y + hand->phase);
    float x = p.x - 0.5f + hand->bend.x * wave, y = p.y - 0.5f + hand->bend.y * wave;
    return (point){hand->centre.x + hand->turn[0][0] * x + hand->turn[0][1] * y,
                   hand->centre.y + hand->turn[1][0] * x + hand->turn[1][1] * y};
}

static float clamp(float x, float lo, float hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

/* Pixels nearer to the line from a to b than the radius become ink, with a soft edge. */
static void draw_line(float ink[DIGIT_PIXELS], point a, point b, float radius)
{
    float dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy, reach = radius + 0.5f;
    int left = (int)clamp(fminf(a.x, b.x) - reach, 0, DIGIT_SIDE);
    int right = (int)clamp(fmaxf(a.x, b.x) + reach, -1, DIGIT_SIDE - 1);
    int top = (int)clamp(fminf(a.y, b.y) - reach, 0, DIGIT_SIDE);
    int bottom = (int)clamp(fmaxf(a.y, b.y) + reach, -1, DIGIT_SIDE - 1);
    for (int y = top; y <= bottom; y++) {
        for (int x = left; x <= right; x++) {
            float along = ((float)x - a.x) * dx + ((float)y - a.y) * dy;
            float t = length2 > 0 ? clamp(along / length2, 0, 1) : 0;
            float away_x = (float)x - a.x - t * dx, away_y = (float)y - a.y - t * dy;
            float away2 = away_x * away_x + away_y * away_y;
            if (away2 >= reach * reach) continue;
            float *pixel = &ink[y * DIGIT_SIDE + x];
            *pixel = fmaxf(*pixel, clamp(reach - sqrtf(away2), 0, 1));
        }
    }
}

/* The curve of Catmull and Rom from b (t = 0) to c (t = 1); a and d are their neighbours. */
static float curve(float a, float b, float c, float d, float t)
{
    return b + 0.5f * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

static void draw_stroke(float ink[DIGIT_PIXELS], const point *points, int count,
                        const handwriting *hand)
{
    point from = place(hand, points[0]);
    for (int i = 0; i + 1 < count; i++) {
        point a = points[i > 0 ? i - 1 : 0], b = points[i], c = points[i + 1];
        point d = points[i + 2 < count ? i + 2 : i + 1];
        for (int piece = 1; piece <= CURVE_PIECES; piece++) {
            float t = (float)piece / CURVE_PIECES;
            point to =
                place(hand, (point){curve(a.x, b.x, c.x, d.x, t), curve(a.y, b.y, c.y, d.y, t)});
            draw_line(ink, from, to, hand->radius);
            from = to;
        }
    }
}

/* Read the points of one stroke. @return where the text of the next one begins, or NULL */
static const char *read_stroke(point points[MAX_POINTS], int *count, const char *text)
{
    char *at = (char *)text;
    *count = 0;
    while (*at != '\0' && *at != '/') {
        points[*count].x = (float)strtol(at, &at, 10) / 100;
        points[*count].y = (float)strtol(at + 1, &at, 10) / 100; /* after the comma */
        *count += 1;
        while (*at == ' ') at++;
    }
    return *at == '/' ? at + 1 : NULL;
}

void digits_draw(unsigned char *image, int digit, random_state *rng)
{
    handwriting hand = random_handwriting(rng);
    float ink[DIGIT_PIXELS] = {0};
    point points[MAX_POINTS];
    int count;
    for (const char *text = digit_strokes[digit]; text != NULL;) {
        text = read_stroke(points, &count, text);
        draw_stroke(ink, points, count, &hand);
    }
    for (int i = 0; i < DIGIT_PIXELS; i++) {
        float grey = ink[i] + hand.noise * random_uniform(rng, -1, 1);
        image[i] = (unsigned char)(255 * clamp(grey, 0, 1) + 0.5f);
    }
}

void digits_generate(unsigned char *images, unsigned char *labels, size_t count, uint64_t seed)
{
    random_state rng = random_seed(seed);
    for (size_t i = 0; i < count; i++) {
        labels[i] = (unsigned char)random_below(&rng, 10);
        digits_draw(images + i * DIGIT_PIXELS, labels[i], &rng);
    }
}

/* Draw one set and write its two files. */
static int write_set(const char *folder, const char *name, size_t count, uint64_t seed, char *error,
                     size_t error_size)
{
    idx_array images = {.shape = {count, DIGIT_SIDE, DIGIT_SIDE, 1}, .rank = 3};
    idx_array labels = {.shape = {count, 1, 1, 1}, .rank = 1};
    images.data = malloc(idx_size(&images) + 1);
    labels.data = malloc(idx_size(&labels) + 1);
    int status = -1;
    if (images.data == NULL || labels.data == NULL) {
        snprintf(error, error_size, "%s: out of memory", folder);
    } else {
        char path[4096];
        digits_generate(images.data, labels.data, count, seed);
        snprintf(path, sizeof path, "%s/%s-images-idx3-ubyte.gz", folder, name);
        status = idx_write(&images, path, error, error_size);
        snprintf(path, sizeof path, "%s/%s-labels-idx1-ubyte.gz", folder, name);
        if (status == 0) status = idx_write(&labels, path, error, error_size);
    }
    idx_free(&images);
    idx_free(&labels);
    return status;
}

int digits_write_idx(const char *folder, size_t train_count, size_t test_count, uint64_t seed,
                     char *error, size_t error_size)
{
    random_state seeds = random_seed(seed);
    uint64_t train_seed = random_u64(&seeds), test_seed = random_u64(&seeds);
    if (write_set(folder, "train", train_count, train_seed, error, error_size) != 0) return -1;
    return write_set(folder, "t10k", test_count, test_seed, error, error_size);
}
