/* tuner/store/privacy: which words are names, and what stands in their place. */
#include "tuner/store/privacy.h"

#include "tuner/base/grow.h"
#include "tuner/base/json.h"

#include <crypt.h>
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETTING "$5$rounds=1000$fstune$"
#define LETTERS 20

static const char *const keys[] = {
    "hostname",     "host",        "path",          "paths",  "existing",         "target",
    "mount_source", "mount_point", "device_serial", "serial", "loop_backing_file"};
/* Options of a mount whose value is a name; a value with a slash is one in any case. */
static const char *const options[] = {"username",   "user",      "domain", "addr",
                                      "clientaddr", "mountaddr", "source"};

int privacy_open(struct privacy *privacy, const char *path, struct err *err)
{
    FILE *file = fopen(path != NULL ? path : "/etc/machine-id", "re");
    memset(privacy, 0, sizeof *privacy);
    bool is_read =
        file != NULL && fscanf(file, "%63s", privacy->secret) == 1 && strlen(privacy->secret) >= 16;
    if (file != NULL)
        fclose(file);
    return is_read ? 0
                   : err_set(err, -ENOENT,
                             "names cannot be hashed without /etc/machine-id; make one "
                             "(systemd-machine-id-setup), or send names as they are with --identify");
}

static int make(const struct privacy *privacy, const char *name, char ret_pseudonym[PRIVACY_NAME_SIZE])
{
    struct crypt_data *data = calloc(1, sizeof *data);
    char phrase[400];
    snprintf(phrase, sizeof phrase, "%s:%s", privacy->secret, name);
    const char *hash = data != NULL ? crypt_r(phrase, SETTING, data) : NULL;
    int result = hash != NULL && strncmp(hash, SETTING, strlen(SETTING)) == 0 ? 0 : -EIO;
    if (result == 0)
        snprintf(ret_pseudonym, PRIVACY_NAME_SIZE, "x-%.*s", LETTERS, hash + strlen(SETTING));
    /* Letters alone, so that it can stand in a path or a line of a configuration. */
    for (char *c = ret_pseudonym + 2; result == 0 && *c != '\0'; c++)
        *c = *c == '/' || *c == '.' ? '_' : *c;
    free(data);
    return result;
}

int privacy_name(struct privacy *privacy, const char *name, char ret_pseudonym[PRIVACY_NAME_SIZE],
                 struct err *err)
{
    ret_pseudonym[0] = '\0';
    if (name[0] == '\0')
        return 0;
    for (size_t i = 0; i < privacy->n; i++) {
        if (strcmp(privacy->known[i].name, name) == 0) {
            memcpy(ret_pseudonym, privacy->known[i].pseudonym, PRIVACY_NAME_SIZE);
            return 0;
        }
    }
    if (make(privacy, name, ret_pseudonym) < 0)
        return err_set(err, -EIO, "a name cannot be hashed; send names as they are with --identify");
    if (privacy->n == PRIVACY_MOST || strlen(name) >= sizeof privacy->known[0].name)
        return 0;
    /* A longer name may hold a shorter one, and has to be found first. */
    size_t at = privacy->n++;
    for (; at > 0 && strlen(privacy->known[at - 1].name) < strlen(name); at--)
        privacy->known[at] = privacy->known[at - 1];
    snprintf(privacy->known[at].name, sizeof privacy->known[at].name, "%s", name);
    memcpy(privacy->known[at].pseudonym, ret_pseudonym, PRIVACY_NAME_SIZE);
    return 0;
}

/* "/" and "none" name nothing; "" and one letter would be found everywhere. */
static bool is_name(const char *text)
{
    return strlen(text) > 1 && strcmp(text, "none") != 0 && strcmp(text, "tmpfs") != 0 &&
           strcmp(text, "overlay") != 0;
}

static bool is_among(const char *word, size_t length, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strlen(names[i]) == length && memcmp(names[i], word, length) == 0)
            return true;
    }
    return false;
}

/* Values of mount options that are names. */
static int learn_options(struct privacy *privacy, const char *text)
{
    char pseudonym[PRIVACY_NAME_SIZE], value[256];
    int result = 0;
    while (*text != '\0' && result == 0) {
        size_t length = strcspn(text, ",;"), key = strcspn(text, "=,;");
        snprintf(value, sizeof value, "%.*s", (int)(key < length ? length - key - 1 : 0), text + key + 1);
        if (is_name(value) &&
            (strchr(value, '/') != NULL || is_among(text, key, options, sizeof options / sizeof options[0])))
            result = privacy_name(privacy, value, pseudonym, NULL);
        text += length + (text[length] != '\0');
    }
    return result;
}

/* A value of a document, and where it stands. */
struct node {
    json_t *value, *in; /* in: an object or an array; NULL: it is the document */
    const char *key;    /* in its object, or of the array that it stands in */
    size_t index;       /* in its array */
};

struct nodes {
    struct node *list;
    size_t n, capacity;
};

static int append(struct nodes *nodes, struct node node)
{
    struct node *added = grow_array(&nodes->list, nodes->n, &nodes->capacity, sizeof node);
    if (added == NULL)
        return -ENOMEM;
    *added = node;
    nodes->n++;
    return 0;
}

static int append_members(struct nodes *nodes, struct node node)
{
    const char *key;
    json_t *member;
    size_t i;
    int result = 0;
    json_object_foreach(node.value, key, member)
    {
        if ((result = append(nodes, (struct node){.value = member, .in = node.value, .key = key})) < 0)
            return result;
    }
    json_array_foreach(node.value, i, member)
    {
        if ((result = append(nodes, (struct node){member, node.value, node.key, i})) < 0)
            return result;
    }
    return 0;
}

/* All values of a document, which owns them. The caller frees the list. */
static int list_nodes(json_t *document, struct nodes *ret_nodes)
{
    *ret_nodes = (struct nodes){0};
    int result = append(ret_nodes, (struct node){.value = document, .key = ""});
    for (size_t i = 0; i < ret_nodes->n && result == 0; i++)
        result = append_members(ret_nodes, ret_nodes->list[i]);
    return result;
}

static int learn(struct privacy *privacy, const char *key, const char *text)
{
    char pseudonym[PRIVACY_NAME_SIZE];
    if (strcmp(key, "mount_options") == 0)
        return learn_options(privacy, text);
    if (is_name(text) && is_among(key, strlen(key), keys, sizeof keys / sizeof keys[0]))
        return privacy_name(privacy, text, pseudonym, NULL);
    return 0;
}

/* The known name that stands at a place as a whole word, the longest; PRIVACY_MOST: none. */
static size_t name_at(const struct privacy *privacy, const char *text, const char *at)
{
    for (size_t i = 0; i < privacy->n; i++) {
        const char *name = privacy->known[i].name;
        size_t length = strlen(name);
        bool begins = at == text || !isalnum((unsigned char)at[-1]) || !isalnum((unsigned char)name[0]);
        if (begins && strncmp(at, name, length) == 0 && !isalnum((unsigned char)at[length]))
            return i;
    }
    return PRIVACY_MOST;
}

static json_t *without_names(const struct privacy *privacy, const char *text)
{
    /* A pseudonym is at most so many times as long as the shortest name, which has two letters. */
    char *copy = malloc(strlen(text) * PRIVACY_NAME_SIZE / 2 + PRIVACY_NAME_SIZE);
    size_t length = 0;
    if (copy == NULL)
        return NULL;
    for (const char *at = text; *at != '\0';) {
        size_t i = name_at(privacy, text, at);
        if (i == PRIVACY_MOST) {
            copy[length++] = *at++;
            continue;
        }
        length += (size_t)sprintf(copy + length, "%s", privacy->known[i].pseudonym);
        at += strlen(privacy->known[i].name);
    }
    copy[length] = '\0';
    json_t *value = json_text(copy);
    free(copy);
    return value;
}

static int replace(const struct privacy *privacy, const struct node *node)
{
    json_t *text = without_names(privacy, json_string_value(node->value));
    int result = json_is_object(node->in) ? json_object_set_new(node->in, node->key, text)
                                          : json_array_set_new(node->in, node->index, text);
    return result == 0 ? 0 : -ENOMEM;
}

/* First all names are learnt: one may stand in a text before the member that tells it. */
static int hide_names(struct privacy *privacy, json_t *document)
{
    struct nodes nodes;
    int result = list_nodes(document, &nodes);
    for (size_t i = 0; i < nodes.n && result == 0; i++) {
        if (json_is_string(nodes.list[i].value))
            result = learn(privacy, nodes.list[i].key, json_string_value(nodes.list[i].value));
    }
    for (size_t i = 1; i < nodes.n && result == 0; i++) {
        if (json_is_string(nodes.list[i].value))
            result = replace(privacy, &nodes.list[i]);
    }
    free(nodes.list);
    return result;
}

json_t *privacy_document(struct privacy *privacy, const json_t *document)
{
    json_t *copy = json_deep_copy(document);
    if (copy != NULL && hide_names(privacy, copy) < 0) {
        json_decref(copy);
        return NULL;
    }
    return copy;
}

int privacy_text(const struct privacy *privacy, const char *text, char *ret_text, size_t size)
{
    json_t *copy = without_names(privacy, text);
    if (copy == NULL)
        return -ENOMEM;
    snprintf(ret_text, size, "%s", json_string_value(copy));
    json_decref(copy);
    return 0;
}
