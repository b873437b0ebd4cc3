/* What the guest needs of dmsetup: a mapped device of one target, and messages to it. Static, for the guest
 * has no libraries.
 *
 * usage: dm create NAME SECTORS TARGET PARAMETERS [UUID]     prints the name of the new device under /dev
 *        dm remove NAME
 *        dm message NAME TEXT */
#include <errno.h>
#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

static int control;

/* One ioctl: the header, and behind it what the call takes. */
static union {
    struct dm_ioctl head;
    char bytes[4096];
} call;

static void *start(const char *name)
{
    memset(&call, 0, sizeof(call));
    call.head.version[0] = DM_VERSION_MAJOR;
    call.head.data_size = sizeof(call);
    call.head.data_start = sizeof(call.head);
    snprintf(call.head.name, sizeof(call.head.name), "%s", name);
    return call.bytes + sizeof(call.head);
}

static void ask(unsigned long number, const char *what)
{
    if (ioctl(control, number, &call) < 0) {
        fprintf(stderr, "dm: %s: %s\n", what, strerror(errno));
        exit(1);
    }
}

static void create(const char *name, const char *uuid, const char *sectors, const char *target,
                   const char *parameters)
{
    start(name);
    snprintf(call.head.uuid, sizeof(call.head.uuid), "%s", uuid);
    ask(DM_DEV_CREATE, "create");
    struct dm_target_spec *spec = start(name);
    call.head.target_count = 1;
    spec->length = strtoull(sectors, NULL, 10);
    snprintf(spec->target_type, sizeof(spec->target_type), "%s", target);
    snprintf((char *)(spec + 1), 2048, "%s", parameters);
    ask(DM_TABLE_LOAD, "load");
    start(name);
    ask(DM_DEV_SUSPEND, "resume"); /* without the flag that suspends */
    printf("dm-%u\n", minor(call.head.dev));
}

int main(int argc, char **argv)
{
    control = open("/dev/mapper/control", O_RDWR | O_CLOEXEC);
    if (control >= 0 && (argc == 6 || argc == 7) && strcmp(argv[1], "create") == 0)
        create(argv[2], argc == 7 ? argv[6] : "", argv[3], argv[4], argv[5]);
    else if (control >= 0 && argc == 3 && strcmp(argv[1], "remove") == 0) {
        start(argv[2]);
        ask(DM_DEV_REMOVE, "remove");
    } else if (control >= 0 && argc == 4 && strcmp(argv[1], "message") == 0) {
        struct dm_target_msg *message = start(argv[2]);
        snprintf(message->message, 2048, "%s", argv[3]);
        ask(DM_TARGET_MSG, "message");
    } else {
        fprintf(stderr, "dm: /dev/mapper/control is missing, or the arguments are wrong\n");
        return 2;
    }
    return 0;
}
