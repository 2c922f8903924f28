/* table.c: rows as text and as CSV. An empty field was not measured. */
#include "program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the machine ----------------------------------------------------------------------------- */

/* The CPU's name, without what would end a field. */
static void cpu_name(char *name, size_t bytes)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(name, bytes, "unknown CPU");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "model name", 10) != 0) continue;
        snprintf(name, bytes, "%s", strchr(line, ':') + 2);
        name[strcspn(name, ",\t\n")] = '\0';
        break;
    }
    if (file) fclose(file);
}

void table_machine(const options *o)
{
    struct cudaDeviceProp p;
    int driver = 0, runtime = 0;
    char cpu[256];
    const char *commit = getenv("COURSE_COMMIT");
    cpu_name(cpu, sizeof cpu);
    if (cudaGetDeviceProperties(&p, 0) != cudaSuccess) return;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    printf("# device %s; driver for CUDA %d.%d; runtime %d.%d; CPU %s; commit %s\n", p.name,
           driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10, cpu,
           commit ? commit : "unknown");
    if (strcmp(p.name, "softgpu") == 0)
        printf("# on softgpu a kernel's time is that of the emulator and says nothing of a GPU\n");
    if (!o->csv) return;
    roofline r = {0};
    if (o->profile && roofline_of(&r) == cudaSuccess)
        printf("# roofline: fp32_gflop_per_second=%.6g copy_gb_per_second=%.6g "
               "gflop_per_image=%.6g gb_per_image=%.6g gb_of_parameters=%.6g\n",
               r.flop_per_second * 1e-9, r.bytes_per_second * 1e-9, flop_of_image(o->size) * 1e-9,
               bytes_of_image(o->size) * 1e-9, RESNET18_PARAMS * 4e-9);
    printf(
        "implementation,precision,size,batch,measured_at,ms,fastest_ms,slowest_ms,"
        "images_per_second,device_ms,device_images_per_second,cpu_ms,cpu_measured_at,"
        "speedup,copies,holds_bytes,peak_bytes,used_bytes,convolution_ms,batchnorm_ms,relu_add_ms,"
        "pooling_ms,linear_ms,copies_ms,other_ms,layer_error,logit_error,same_top1,images,"
        "independent,queued_ms,error\n");
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void field(bool known, const char *format, double value)
{
    putchar(',');
    if (known) printf(format, value);
}

static void csv_row(const subject *s, const measurement *m, const agreement *g, const options *o)
{
    const sweep_row *h = &m->host, *d = &m->device;
    const bool timed = h->error == 0, run = timed && h->measured_at == h->batch;
    const bool alone = timed && d->batch > 0 && d->error == 0, cpu = timed && m->cpu.ms > 0;
    printf("%s,%s,%d,%d", s->impl->name, precision_names[s->precision], o->size, h->batch);
    field(timed, "%.0f", h->measured_at);
    field(timed, "%.5g", h->ms);
    field(timed, "%.5g", h->fastest);
    field(timed, "%.5g", h->slowest);
    field(timed, "%.5g", h->images_per_second);
    field(alone, "%.5g", d->ms);
    field(alone, "%.5g", d->images_per_second);
    field(cpu, "%.5g", m->cpu.ms);
    field(cpu, "%.0f", m->cpu.measured_at);
    field(cpu, "%.5g", m->cpu.ms / h->ms);
    field(run, "%.0f", m->copies);
    field(run, "%.0f", (double)m->holds);
    field(run, "%.0f", (double)m->peak);
    field(run, "%.0f", (double)h->device_bytes);
    for (int i = 0; i < KINDS; i++)
        field(m->kinds[OTHER] > 0 && !isnan(m->kinds[i]), "%.5g", m->kinds[i]);
    field(g->images > 0 && !isnan(g->layers), "%.3g", g->layers);
    field(g->images > 0, "%.3g", g->logits);
    field(g->images > 0, "%.0f", g->same_top1);
    field(g->images > 0, "%.0f", g->images);
    field(g->images > 0, "%.0f", g->independent);
    field(m->queued_ms > 0, "%.5g", m->queued_ms);
    printf(",%s\n", h->error ? cudaGetErrorName((cudaError_t)h->error) : "");
}

/* ---- text ------------------------------------------------------------------------------------ */

static void text_times(const measurement *m, bool is_cpu)
{
    const sweep_row *h = &m->host, *d = &m->device;
    if (is_cpu)
        printf("Batch %d: CPU %.2f ms\n", h->batch, h->ms);
    else
        printf("Batch %d: CPU %.2f ms, GPU %.2f ms, Speedup: %.1fx\n", h->batch, m->cpu.ms, h->ms,
               m->cpu.ms / h->ms);
    if (!is_cpu && m->cpu.measured_at != h->batch)
        printf("    the CPU's time is scaled from batch %d\n", m->cpu.measured_at);
    if (h->measured_at != h->batch) printf("    scaled from batch %d\n", h->measured_at);
    printf("    %.2f images/s; fastest %.2f ms, slowest %.2f ms", h->images_per_second, h->fastest,
           h->slowest);
    if (d->batch && !d->error)
        printf("; images on the device: %.2f ms, %.2f images/s", d->ms, d->images_per_second);
    if (m->queued_ms > 0) printf("; in a queue: %.2f ms", m->queued_ms);
    putchar('\n');
}

static void text_memory(const measurement *m)
{
    const double mib = 1 << 20;
    if (m->host.measured_at != m->host.batch || m->peak == 0) return;
    printf("    %d copies between host and device; device memory: %.1f MiB held, %.1f MiB at most, "
           "%.1f MiB less free\n",
           m->copies, (double)m->holds / mib, (double)m->peak / mib,
           (double)m->host.device_bytes / mib);
}

static void text_kinds(const measurement *m)
{
    const float all = kinds_sum(m->kinds, KINDS);
    if (!(m->kinds[OTHER] > 0.0f)) return;
    printf("    of %.2f ms: ", all);
    for (int i = 0; i < KINDS; i++) {
        if (isnan(m->kinds[i])) continue; /* not seen apart: in "other", the last */
        printf("%s %.1f %%%s", kind_names[i], 100.0 * m->kinds[i] / all, i < OTHER ? ", " : "\n");
    }
}

static void text_row(const measurement *m, bool is_cpu)
{
    if (m->host.error) {
        printf("Batch %d: %s\n", m->host.batch, cudaGetErrorString((cudaError_t)m->host.error));
        return;
    }
    text_times(m, is_cpu);
    text_memory(m);
    text_kinds(m);
}

static void text_agreement(const agreement *g)
{
    printf("accuracy: logits differ by %.2g of their norm", g->logits);
    if (!isnan(g->layers)) printf(", layers by %.2g at most", g->layers);
    printf("; the largest is the CPU's for %d of %d images; %s\n%s\n", g->same_top1, g->images,
           g->independent ? "a row does not depend on its neighbours"
                          : "a row DEPENDS on its neighbours",
           g->holds ? "verified" : "NOT VERIFIED: it does not compute what the CPU computes");
}

void table_rows(const subject *s, const measurement *rows, const agreement *g, const options *o)
{
    const bool is_cpu = s->impl == &implementations[0];
    if (!o->csv) printf("\n%s, %s\n", s->impl->name, precision_names[s->precision]);
    for (int i = 0; i < o->count; i++) {
        if (o->csv)
            csv_row(s, &rows[i], g, o);
        else
            text_row(&rows[i], is_cpu);
    }
    if (!o->csv && g->images > 0) text_agreement(g);
    fflush(stdout);
}
