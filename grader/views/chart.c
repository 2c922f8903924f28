/*
 * chart.c: gnuplot draws, in SVG. The data lie in the script, between quotes, and every text in
 * them is reduced to letters, digits and a few signs: nothing in results.json can become a command.
 *
 * Charts are tall and narrow, with one row per exercise or test, so that a phone can show them.
 */
#include "views.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 256, WIDTH = 460, FURTHEST = 100, CROWDED = 30 }; /* CROWDED: its ticks would be */

/* One row of a chart: what it is called, and up to three numbers; noisy: none of them decides. */
typedef struct row {
    char label[64];
    double x, low, high;
    bool noisy;
} row;

typedef struct rows {
    int count;
    row at[ROWS];
} rows;

static void set_label(row *r, const char *id, const char *name)
{
    char text[sizeof r->label];
    snprintf(text, sizeof text, "%s %s", id, name);
    for (char *c = text; *c; c++) {
        const bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                           (*c >= '0' && *c <= '9') || strchr(" _-.,:", *c);
        if (!plain) *c = ' ';
    }
    memcpy(r->label, text, sizeof text);
}

static row *add_row(rows *all, const json_t *exercise, const char *name)
{
    if (all->count == ROWS) return NULL;
    row *r = &all->at[all->count++];
    set_label(r, id_words(id_of(exercise)), name);
    return r;
}

/* ---- gnuplot --------------------------------------------------------------------------------- */

static process_result run_gnuplot(const char *script, double deadline)
{
    const char *const argv[] = {"gnuplot", script, NULL};
    return process_run(argv, NULL, deadline, 1 << 20);
}

bool chart_can_draw(void)
{
    const char *const argv[] = {"gnuplot", "--version", NULL};
    process_result r = process_run(argv, NULL, 10.0, 256);
    free(r.output);
    return r.status == 0;
}

/* What stands before the picture is for files of their own. Its background is the page's, light or
 * dark, and so its words follow. */
static char *picture_in(const char *output)
{
    static const char style[] =
        "<style>text { fill: #222 } @media (prefers-color-scheme: dark) { text { fill: #ddd } "
        "}</style>";
    const char *start = strstr(output, "<svg"), *open = start ? strchr(start, '>') : NULL;
    const char *end = open ? strstr(open, "</svg>") : NULL;
    char *picture = NULL;
    if (!end) return NULL;
    if (asprintf(&picture, "%.*s%s%.*s</svg>", (int)(open + 1 - start), start, style,
                 (int)(end - open - 1), open + 1) < 0)
        return NULL;
    return picture;
}

/* @return the picture, or NULL after gnuplot's words on stderr */
static char *draw(const char *script)
{
    char path[] = "/tmp/chart.XXXXXX", *picture = NULL;
    const int file = mkstemp(path);
    if (file < 0) return NULL;
    const size_t size = strlen(script);
    if (write(file, script, size) == (ssize_t)size) {
        process_result r = run_gnuplot(path, 30.0);
        picture = r.status == 0 ? picture_in(r.output) : NULL;
        if (!picture) fprintf(stderr, "grader: gnuplot: %s\n", r.output ? r.output : "not started");
        free(r.output);
    }
    close(file);
    unlink(path);
    return picture;
}

/* In characters: as wide as the longest label. */
static int margin_of_labels(const rows *all)
{
    size_t longest = 20;
    for (int i = 0; i < all->count; i++) {
        const size_t length = strlen(all->at[i].label);
        if (length > longest) longest = length;
    }
    return (int)longest + 2;
}

/* Row 0 of the chart is at the top. The style of lines and colours is the same for all. */
static void begin(FILE *to, const rows *all, int height)
{
    const int labels = margin_of_labels(all), width = 280 + 8 * labels;
    fprintf(to, "set terminal svg noenhanced size %d,%d dynamic font 'sans-serif,14'\n",
            width > WIDTH ? width : WIDTH, height);
    fputs("set border 1 lc '#888888'\nset tics nomirror scale 0.5\nunset key\n"
          "set grid xtics lc '#b0808080' lt 1\nset rmargin 3\n",
          to);
    fprintf(to, "set lmargin %d\nset yrange [%g:-0.6]\n$data << EOD\n", labels, all->count - 0.4);
    for (int i = 0; i < all->count; i++) {
        const row *r = &all->at[i];
        fprintf(to, "%d \"%s\" %.6g %.6g %.6g %d\n", i, r->label, r->x, r->low, r->high, r->noisy);
    }
    fputs("EOD\n", to);
}

static int height_of(const rows *all)
{
    return 90 + 24 * all->count;
}

/* ---- points ---------------------------------------------------------------------------------- */

char *chart_points(const json_t *results)
{
    size_t i, size;
    json_t *one;
    char *script = NULL;
    rows *all = calloc(1, sizeof *all);
    FILE *to = open_memstream(&script, &size);
    json_array_foreach(json_object_get(results, "exercises"), i, one)
    {
        row *r = add_row(all, one, string_of(one, "name"));
        if (r) *r = (row){.x = real_of(one, "points"), .low = real_of(one, "max_points")};
        if (r) set_label(r, id_words(id_of(one)), string_of(one, "name"));
    }
    begin(to, all, height_of(all));
    fputs("set xlabel 'points'\nset xrange [0:*]\nset style fill solid noborder\n"
          "plot $data using ($4/2):1:($4/2):(0.36):ytic(2) with boxxy lc '#a0808080', "
          "$data using ($3/2):1:($3/2):(0.36) with boxxy lc '#2a9d78'\n",
          to);
    fclose(to);
    char *picture = all->count > 0 ? draw(script) : NULL;
    free(script);
    free(all);
    return picture;
}

/* ---- speed and traffic against their thresholds ---------------------------------------------- */

/* How far the test is beyond what is wanted: 1 is just enough, more is better. */
static double margin(const json_t *test)
{
    const double counted = real_of(test, "counted"), wanted = real_of(test, "wanted");
    const char *bound = string_of(test, "bound");
    if (strcmp(bound, "at least") == 0) return wanted > 0 ? counted / wanted : FURTHEST;
    if (strcmp(bound, "exactly") == 0) return counted == wanted ? 1.0 : 0.5;
    if (counted <= 0) return wanted > 0 ? FURTHEST : 1.0;
    return wanted / counted;
}

static double inside(double x)
{
    return fmin(fmax(x, 1.0 / FURTHEST), FURTHEST);
}

static char *chart_margins(const rows *all, const char *label)
{
    size_t size;
    char *script = NULL;
    double low = 0.5, high = 2.0; /* of the axis */
    if (all->count == 0) return NULL;
    for (int i = 0; i < all->count; i++) {
        low = fmin(low, all->at[i].low);
        high = fmax(high, all->at[i].high);
    }
    FILE *to = open_memstream(&script, &size);
    begin(to, all, height_of(all));
    fprintf(to, "set xlabel '%s'\nset logscale x\n", label);
    fprintf(to, "set xrange [%.6g : %.6g]\n", low / 1.15, high * 1.15);
    fprintf(to, "set xtics (%s)\n",
            high / low > CROWDED ? "0.01, 0.1, 1, 10, 100"
                                 : "0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100");
    fputs("set arrow from 1, graph 0 to 1, graph 1 nohead lc '#d9534a' lw 2\n"
          "plot $data using 3:1:4:5:ytic(2) with xerrorbars lc '#888888' lw 2 pt -1, "
          "$data using ($6 == 0 && $3 >= 1 ? $3 : NaN):1 with points pt 7 ps 0.9 lc '#2a9d78', "
          "$data using ($6 == 0 && $3 < 1 ? $3 : NaN):1 with points pt 9 ps 1.1 lc '#d9534a', "
          "$data using ($6 == 1 ? $3 : NaN):1 with points pt 6 ps 0.9 lw 2 lc '#b8860b'\n",
          to);
    fclose(to);
    char *picture = draw(script);
    free(script);
    return picture;
}

char *chart_speed(const json_t *results)
{
    size_t i, k;
    json_t *one, *test;
    rows *all = calloc(1, sizeof *all);
    json_array_foreach(json_object_get(results, "exercises"), i, one)
    {
        json_array_foreach(json_object_get(one, "speeds"), k, test)
        {
            const double threshold = real_of(test, "threshold"), ratio = real_of(test, "ratio");
            row *r =
                ratio > 0 && threshold > 0 ? add_row(all, one, string_of(test, "function")) : NULL;
            if (!r) continue;
            r->noisy = strcmp(string_of(test, "verdict"), "too_noisy") == 0;
            r->x = inside(ratio / threshold);
            r->low = fmin(r->x, inside(real_of(test, "low") / threshold));
            r->high = fmax(r->x, inside(real_of(test, "high") / threshold));
        }
    }
    char *picture = chart_margins(all, "times the threshold");
    free(all);
    return picture;
}

char *chart_traffic(const json_t *results)
{
    size_t i, k;
    json_t *one, *test;
    rows *all = calloc(1, sizeof *all);
    json_array_foreach(json_object_get(results, "exercises"), i, one)
    {
        json_array_foreach(json_object_get(one, "traffic"), k, test)
        {
            char name[64];
            snprintf(name, sizeof name, "%s: %s", string_of(test, "function"),
                     string_of(test, "quantity"));
            const bool judged = strchr("pf", *string_of(test, "verdict")) != NULL;
            row *r = judged && json_is_number(json_object_get(test, "counted"))
                         ? add_row(all, one, name)
                         : NULL;
            if (r) r->x = r->low = r->high = inside(margin(test));
        }
    }
    char *picture = chart_margins(all, "times better than the bound");
    free(all);
    return picture;
}

/* ---- history --------------------------------------------------------------------------------- */

/* What each exercise has reached so far. */
typedef struct standing {
    int count;
    struct {
        int id;
        double points, max_points;
    } at[ROWS];
} standing;

static void update(standing *s, const json_t *entry)
{
    int i = 0;
    const int id = id_of(entry);
    if (id_is_challenge(id)) return;
    while (i < s->count && s->at[i].id != id) i++;
    if (i == ROWS) return;
    if (i == s->count) s->count++;
    s->at[i].id = id;
    s->at[i].points = real_of(entry, "points");
    s->at[i].max_points = real_of(entry, "max_points");
}

static void put_standing(FILE *to, int number, const standing *s)
{
    double points = 0.0, max_points = 0.0;
    for (int i = 0; number > 0 && i < s->count; i++) {
        points += s->at[i].points;
        max_points += s->at[i].max_points;
    }
    if (number > 0) fprintf(to, "%d %.6g %.6g\n", number, points, max_points);
}

/* The exercises of one grading carry the same time. A line that is none of this submission's (cut
 * short by a crash, or another's) is passed over. @return the number of gradings */
static int read_history(const char *path, const char *submission, FILE *to)
{
    int count = 0;
    size_t size = 0;
    standing s = {0};
    char *line = NULL, time[40] = "", whole[PATH_MAX];
    FILE *from = fopen(path, "r");
    if (!from) return 0;
    if (!realpath(submission, whole)) snprintf(whole, sizeof whole, "%s", submission);
    while (getline(&line, &size, from) > 0) {
        json_t *record = json_loads(line, 0, NULL), *entry = json_object_get(record, "entry");
        if (entry && strcmp(string_of(record, "submission"), whole) == 0) {
            if (strcmp(time, string_of(record, "time")) != 0) put_standing(to, count++, &s);
            snprintf(time, sizeof time, "%s", string_of(record, "time"));
            update(&s, entry);
        }
        json_decref(record);
    }
    put_standing(to, count, &s);
    free(line);
    fclose(from);
    return count;
}

char *chart_history(const char *file, const char *submission)
{
    size_t size;
    char *script = NULL;
    if (!file) return NULL;
    FILE *to = open_memstream(&script, &size);
    fprintf(to, "set terminal svg noenhanced size %d,260 dynamic font 'sans-serif,14'\n", WIDTH);
    fputs("set border 3 lc '#888888'\nset tics nomirror scale 0.5\n"
          "set key above left Left reverse samplen 2\n"
          "set grid lc '#b0808080' lt 1\nset xlabel 'grading'\nset ylabel 'points'\n"
          "set yrange [0:*]\n$data << EOD\n",
          to);
    const int count = read_history(file, submission, to);
    fprintf(to, "EOD\nset xtics %d\nset xrange [0.5:%d.5]\n", 1 + count / 8, count);
    fputs("plot $data using 1:3 with lines lc '#888888' lw 2 title 'of those graded so far', "
          "$data using 1:2 with linespoints pt 7 ps 0.6 lw 2 lc '#2a9d78' title 'reached'\n",
          to);
    fclose(to);
    char *picture = count > 1 ? draw(script) : NULL;
    free(script);
    return picture;
}
