/* fuzz_settings.c: any bytes as class.ini: what is accepted makes no mark negative or no number. */
#include "class/class.h"
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>

static void ask(const settings *s)
{
    static const time_t times[] = {0, 1763683140, 4102444800};
    for (const exercise *const *e = catalog(); *e; e++) {
        if (!(settings_weight(s, (*e)->id) >= 0)) abort();
    }
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        const int days = settings_days_late(s, settings_submitted(s, "anna", times[i]));
        const double factor = settings_late_factor(s, days);
        if (days < 0 || !(factor >= 0 && factor <= 1)) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    settings s = {0};
    if (settings_read(&s, file_of(data, bytes))) ask(&s);
    settings_free(&s);
    return 0;
}
