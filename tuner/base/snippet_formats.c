/* Names of formats, for the options. */
#include "tuner/base/snippet_formats.h"

const char *const snippet_formats[SNIPPET_FORMATS_N] = {
    "qemu",    "qemu-drive", "libvirt", "proxmox",  "virtualbox", "vmware", "firecracker", "cloud-hypervisor",
    "crosvm",  "bhyve",      "xen",     "kubevirt", "fio",        "udev",   "postgresql",  "mysql",
    "rocksdb", "seastar",    "shell",   "json",
};
