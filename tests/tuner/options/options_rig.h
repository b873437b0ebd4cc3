/* tests/tuner/options/options_rig: command lines as lists of words, and what became of the last of them. */
#pragma once

#include "tests/test.h"
#include "tuner/options/options.h"

#include <errno.h>

#define MAX_WORDS           16
#define PARSE(command, ...) parse_words((command), (const char *const[MAX_WORDS]){__VA_ARGS__})
#define RECOMMEND(...)      PARSE(OPTIONS_RECOMMEND, __VA_ARGS__)
#define MEASURE(...)        PARSE(OPTIONS_MEASURE, __VA_ARGS__)
#define NS_PER_S            1000000000ULL

static struct settings settings;
static struct err err;

/* Words up to the first that is NULL. */
static int parse_words(unsigned command, const char *const words[MAX_WORDS])
{
    char *argv[1 + MAX_WORDS];
    int argc = 1;
    for (; argc <= MAX_WORDS && words[argc - 1] != NULL; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    settings_init(&settings);
    err = (struct err){0};
    return options_parse(&settings, command, argc, argv, &err);
}
