/* members.c: the members of a JSON object, by name. */
#include "base.h"

const char *string_of(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

double real_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

long integer_of(const json_t *object, const char *key)
{
    return (long)json_integer_value(json_object_get(object, key));
}
