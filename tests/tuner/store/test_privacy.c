/* Tests of the pseudonyms that stand in the place of names. */
#include "tests/tuner/rig.h"
#include "tuner/store/privacy.h"

#include <errno.h>

GROUP(rig_enter, rig_leave);

static struct privacy privacy;
static struct err err;

static int open_with(void **state)
{
    (void)state;
    rig_write("secret", "0123456789abcdef0123456789abcdef\n");
    return privacy_open(&privacy, "secret", &err);
}

EACH_TEST(open_with, NULL);

static void name(const char *text, char pseudonym[PRIVACY_NAME_SIZE])
{
    assert_int_equal(privacy_name(&privacy, text, pseudonym, &err), 0);
}

TEST(a_pseudonym_is_the_same_again_and_other_for_other_names_and_machines)
{
    char first[PRIVACY_NAME_SIZE], again[PRIVACY_NAME_SIZE], other[PRIVACY_NAME_SIZE];
    name("db1", first);
    name("db1", again);
    name("db2", other);
    assert_string_equal(first, again);
    assert_string_not_equal(first, other);
    assert_int_equal(strlen(first), 22);
    rig_write("secret2", "1123456789abcdef0123456789abcdef\n");
    assert_int_equal(privacy_open(&privacy, "secret2", &err), 0);
    name("db1", other);
    assert_string_not_equal(first, other);
}

TEST(no_name_stays_none)
{
    char pseudonym[PRIVACY_NAME_SIZE] = "before";
    name("", pseudonym);
    assert_string_equal(pseudonym, "");
}

TEST(a_machine_without_a_secret_is_told_what_to_do)
{
    assert_int_equal(privacy_open(&privacy, "missing", &err), -ENOENT);
    assert_non_null(strstr(err.text, "--identify"));
    rig_write("short", "0123\n");
    assert_int_equal(privacy_open(&privacy, "short", &err), -ENOENT);
}

TEST(names_leave_a_document_wherever_they_stand)
{
    static const char text[] =
        "{\"system\": {\"hostname\": \"vm\", \"path\": \"/srv/acme\", \"mount_point\": \"/\","
        " \"mount_options\": \"rw,addr=10.0.0.7;vers=4.2,lowerdir=/var/a:/var/b\","
        " \"kernel\": \"6.1-vm1\", \"virtualisation\": \"kvm\", \"device_model\": \"Samsung 980\"},"
        " \"notes\": [\"vm: /srv/acme/x is slow\", [{\"why\": \"10.0.0.7 (vm)\"}]], \"n\": 3}";
    json_auto_t *document = json_loads(text, 0, NULL), *copy = privacy_document(&privacy, document);
    assert_non_null(copy);
    char *dumped = json_dumps(copy, 0), host[PRIVACY_NAME_SIZE];
    name("vm", host);
    assert_null(strstr(dumped, "acme"));
    assert_null(strstr(dumped, "10.0.0.7"));
    assert_null(strstr(dumped, "/var"));
    assert_null(strstr(dumped, "\"vm"));
    assert_null(strstr(dumped, "(vm)"));
    assert_non_null(strstr(dumped, host));
    assert_non_null(strstr(dumped, "6.1-vm1"));
    assert_non_null(strstr(dumped, "\"kvm\""));
    assert_non_null(strstr(dumped, "vers=4.2"));
    assert_non_null(strstr(dumped, "Samsung 980"));
    assert_non_null(strstr(dumped, "\"mount_point\": \"/\""));
    free(dumped);
    /* The document that was given stays as it was. */
    assert_string_equal(json_string_value(json_object_get(json_object_get(document, "system"), "hostname")),
                        "vm");
}

TEST(what_a_system_told_is_hidden_in_a_later_text)
{
    char text[200];
    json_auto_t *system = json_pack("{s:s}", "hostname", "alpha.example.org");
    json_t *copy = privacy_document(&privacy, system);
    assert_non_null(copy);
    json_decref(copy);
    assert_int_equal(privacy_text(&privacy, "alpha.example.org fell behind", text, sizeof text), 0);
    assert_null(strstr(text, "alpha"));
    assert_non_null(strstr(text, "fell behind"));
}
