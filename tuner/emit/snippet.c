/* tuner/emit/snippet: the table of formats, and making one snippet. */
#include "tuner/emit/snippet.h"

#include "bench/host/hostinfo.h"
#include "tuner/base/snippet_formats.h"
#include "tuner/emit/snippet_template.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* In the order of their names. Comments have a hash in front unless a row says otherwise. */
#define FORMAT(format, template, can_say, title_line, hint_line, ...)                                        \
    {                                                                                                        \
        .name = (format), .text = (template), .says = (can_say), .title = (title_line), .hint = (hint_line), \
        __VA_ARGS__                                                                                          \
    }
static const struct snippet_ops table[SNIPPET_FORMATS_N] = {
    FORMAT("qemu", snippet_text_qemu, "-pyppp",
           "QEMU's -object iothread, -blockdev and -device, for the command line",
           "grep -v '^#' FILE | xargs qemu-system-x86_64 -S -nodefaults -display none", .takes_device = true,
           .can_self_tune = true, .own = snippet_own_qemu),
    FORMAT("qemu-drive", snippet_text_qemu_drive, "-pyppp",
           "QEMU's short form, -drive and -device, for the command line",
           "grep -v '^#' FILE | xargs qemu-system-x86_64 -S -nodefaults -display none", .takes_device = true,
           .can_self_tune = true, .own = snippet_own_qemu),
    FORMAT("libvirt", snippet_text_libvirt, "-pyppp",
           "libvirt's <iothreads>, <disk> and SCSI <controller>, for virsh edit",
           "in virsh edit NAME, which refuses what it cannot read; then virsh domxml-to-native qemu-argv "
           "--domain NAME",
           .comments = SNIPPET_COMMENTS_XML, .takes_device = true, .can_self_tune = true,
           .own = snippet_own_libvirt),
    FORMAT("proxmox", snippet_text_proxmox, "--yp-p", "Proxmox VE's qm set, and the line of VMID.conf",
           "qm config VMID, and qm showcmd VMID --pretty", .takes_device = true, .own = snippet_own_proxmox),
    FORMAT("virtualbox", snippet_text_virtualbox, "--p--p",
           "VBoxManage commands for a machine that is off: host cache, and flushes let through",
           "sh -n FILE; after a start, grep IgnoreFlush in the machine's VBox.log",
           .ignores = SNIPPET_IGNORES_VERSION),
    FORMAT("vmware", snippet_text_vmware, "-p----",
           "boot parameters of a Linux guest where the depth needs them, else comments alone",
           "in the guest: cat /sys/module/vmw_pvscsi/parameters/{cmd_per_lun,ring_pages}",
           .ignores = SNIPPET_IGNORES_VERSION),
    FORMAT("firecracker", snippet_text_firecracker, "---p-p",
           "a drive: body of PUT /drives/ID; what JSON cannot say stands on stderr",
           "curl --unix-socket SOCKET -X PUT http://localhost/drives/data -d @FILE (204: accepted)",
           .comments = SNIPPET_COMMENTS_NONE),
    FORMAT("cloud-hypervisor", snippet_text_cloud_hypervisor, "-py-pp",
           "a --disk option for the command line of cloud-hypervisor",
           "start cloud-hypervisor with it; GET /api/v1/vm.info shows the disk as understood", .own = NULL),
    FORMAT("crosvm", snippet_text_crosvm, "--yp-p", "a --block option for the command line of crosvm run",
           "start crosvm run with it; an option that it does not know ends it with its position",
           .ignores = SNIPPET_IGNORES_VERSION),
    FORMAT("bhyve", snippet_text_bhyve, "-py--p", "a -s option for the command line of bhyve (FreeBSD)",
           "bhyve -o config.dump=1 ... prints the options as understood", .ignores = SNIPPET_IGNORES_VERSION),
    FORMAT("xen", snippet_text_xen, "--p--p", "a disk for an xl configuration file",
           "xl create --dryrun FILE (on a Xen host) prints the disk as understood",
           .ignores = SNIPPET_IGNORES_VERSION),
    FORMAT("kubevirt", snippet_text_kubevirt, "--yp-p",
           "a disk for a VirtualMachine of KubeVirt (YAML); --image is the volume's name",
           "kubectl apply --dry-run=server -f MACHINE.yaml", .ignores = SNIPPET_IGNORES_VERSION,
           .own = snippet_own_kubevirt),
    FORMAT("fio", snippet_text_fio, "yyypyy", "a job for fio that repeats the measurement",
           "fio --parse-only FILE", .comments = SNIPPET_COMMENTS_SEMICOLON,
           .ignores = SNIPPET_IGNORES_ALL & ~(unsigned)SNIPPET_IGNORES_IMAGE, .own = snippet_own_fio),
    FORMAT("udev", snippet_text_udev, "pp----",
           "a udev rule for limits of the disk's queue that are in the way",
           "udevadm verify FILE (systemd 254 and later), or udevadm test /sys/block/DISK",
           .ignores = SNIPPET_IGNORES_ALL, .own = snippet_own_udev),
    FORMAT("postgresql", snippet_text_postgresql, "pp-p--",
           "lines for postgresql.conf; takes answers for random reads, scans and the log",
           "postgres -D DATA -c config_file=FILE -C effective_io_concurrency",
           .ignores = SNIPPET_IGNORES_DISK, .takes_several = true, .own = snippet_own_postgresql),
    FORMAT("mysql", snippet_text_mysql, "--y-p-", "lines for my.cnf of MySQL and MariaDB (InnoDB)",
           "mysqld --defaults-file=FILE --validate-config; MariaDB: mariadbd --defaults-file=FILE --help",
           .ignores = SNIPPET_IGNORES_DISK, .own = snippet_own_mysql),
    FORMAT("rocksdb", snippet_text_rocksdb, "p-y-p-", "lines for [DBOptions] of RocksDB's OPTIONS file",
           "ldb --db=DIR --try_load_options get KEY",
           .ignores = SNIPPET_IGNORES_DISK | SNIPPET_IGNORES_VERSION, .own = snippet_own_rocksdb),
    FORMAT("seastar", snippet_text_seastar, "------",
           "io_properties.yaml of Seastar, ScyllaDB and Redpanda; takes four answers",
           "python3 -c 'import yaml; yaml.safe_load(open(\"FILE\"))'",
           .ignores = SNIPPET_IGNORES_ALL & ~(unsigned)SNIPPET_IGNORES_IMAGE, .takes_several = true,
           .needs_several = true, .own = snippet_own_seastar),
    FORMAT("shell", snippet_text_shell, "yyyyyy",
           "variables for a shell script: FSTUNE_REQUEST_SIZE=65536 ...", "sh -n FILE",
           .ignores = SNIPPET_IGNORES_ALL),
    FORMAT("json", snippet_text_json, "yyyyyy", "setting, evidence and origin as one small JSON document",
           "jq . FILE", .comments = SNIPPET_COMMENTS_NONE, .ignores = SNIPPET_IGNORES_ALL,
           .own = snippet_own_json),
};

const char *const snippet_image_names[SNIPPET_IMAGE_N] = {"raw", "qcow2"};
const char *const snippet_bus_names[SNIPPET_BUS_N] = {"virtio-blk", "virtio-scsi", "nvme"};

const struct snippet_ops *snippet_row(size_t i)
{
    return i < SNIPPET_FORMATS_N ? &table[i] : NULL;
}

const struct snippet_ops *snippet_find(const char *name)
{
    const struct snippet_ops *ops;
    for (size_t i = 0; (ops = snippet_row(i)) != NULL; i++) {
        if (strcmp(ops->name, name) == 0)
            return ops;
    }
    return NULL;
}

/* Adds a remark for each option that the snippet ignores: the user must know, above all of durability. */
static void note_ignored(struct snippet_writer *writer, const struct snippet_ops *ops,
                         const struct snippet_request *request)
{
    const struct {
        unsigned option;
        bool given; /* with another value than the default */
        const char *name, *instead;
    } options[] = {
        {SNIPPET_IGNORES_IMAGE, request->image[0] != '\0', "--image", ""},
        {SNIPPET_IGNORES_IMAGE_FORMAT, request->image_format != SNIPPET_IMAGE_RAW, "--image-format", ""},
        {SNIPPET_IGNORES_BUS, request->bus != SNIPPET_BUS_VIRTIO_BLK, "--bus", ""},
        {SNIPPET_IGNORES_DIRECTSYNC, request->directsync, "--directsync",
         ": nothing here makes every write durable, the application has to ask for that"},
        {SNIPPET_IGNORES_VERSION, request->version[0] + request->version[1] > 0, "--target-version", ""},
    };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (options[i].given && (ops->ignores & options[i].option) != 0)
            snippet_comment(writer, "%s is not used by %s%s", options[i].name, ops->name, options[i].instead);
    }
    if (request->self_tuning && !ops->can_self_tune)
        snippet_comment(writer, "--self-tuning is not used by %s: only qemu, qemu-drive and libvirt have it",
                        ops->name);
}

/* What was measured was not necessarily a place for images, but a device is one. */
static const char *image_of(const struct snippet_ops *ops, const struct snippet_request *request)
{
    const struct recommendation *recommendation = request->recommendation;
    if (request->image[0] != '\0' || !ops->takes_device ||
        strcmp(recommendation->file_system, HOSTINFO_NO_FILE_SYSTEM) != 0)
        return request->image;
    const char *by_id = recommendation_fact_text(recommendation, "device_by_id");
    return by_id != NULL ? by_id : recommendation->path;
}

/* A stream into memory fails only where memory does. */
static int close_text(FILE *stream)
{
    bool failed = ferror(stream) != 0;
    return fclose(stream) != 0 || failed ? -ENOMEM : 0;
}

int snippet_make(const struct snippet_ops *ops, const struct snippet_request *request, char **ret_text,
                 char **ret_remarks, struct err *err)
{
    char *text = NULL, *remarks = NULL;
    size_t n_text = 0, n_remarks = 0;
    int result = -ENOMEM;
    struct snippet_request completed = *request;
    completed.image = image_of(ops, request);
    if (request->n_more > 0 && !ops->takes_several)
        return err_set(err, -EINVAL,
                       "%zu answers were given, and this format takes one; leave the others out",
                       request->n_more + 1);
    struct snippet_writer writer = {.out = open_memstream(&text, &n_text),
                                    .remarks = open_memstream(&remarks, &n_remarks),
                                    .comments = ops->comments};
    if (writer.out != NULL && writer.remarks != NULL) {
        note_ignored(&writer, ops, request);
        result = snippet_template_run(ops, &writer, &completed, err);
    } else
        err_set(err, -ENOMEM, "no memory for the snippet");
    if (writer.out != NULL && close_text(writer.out) < 0 && result == 0)
        result = err_set(err, -ENOMEM, "no memory for the snippet");
    if (writer.remarks != NULL && close_text(writer.remarks) < 0 && result == 0)
        result = err_set(err, -ENOMEM, "no memory for the snippet");
    if (result < 0) {
        free(text);
        free(remarks);
        return result;
    }
    *ret_text = text;
    *ret_remarks = remarks;
    return 0;
}
