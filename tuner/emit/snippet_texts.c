/* tuner/emit/snippet_texts: the assembler reads the templates. */
#include "tuner/emit/snippet_template.h"

#include "tuner/base/template.h"

#define TEXT_OF(name, file) TEMPLATE_FILE("snippet_text_" name, "tuner/emit/formats/" file ".txt")

TEXT_OF("guest", "guest");
TEXT_OF("machine", "machine");
TEXT_OF("plan", "plan");
TEXT_OF("qemu_notes", "qemu-notes");
TEXT_OF("qemu_devices", "qemu-devices");
TEXT_OF("qemu_nbd", "qemu-nbd");
TEXT_OF("qemu", "qemu");
TEXT_OF("qemu_drive", "qemu-drive");
TEXT_OF("libvirt", "libvirt");
TEXT_OF("proxmox", "proxmox");
TEXT_OF("virtualbox", "virtualbox");
TEXT_OF("vmware", "vmware");
TEXT_OF("firecracker", "firecracker");
TEXT_OF("cloud_hypervisor", "cloud-hypervisor");
TEXT_OF("crosvm", "crosvm");
TEXT_OF("bhyve", "bhyve");
TEXT_OF("xen", "xen");
TEXT_OF("kubevirt", "kubevirt");
TEXT_OF("fio", "fio");
TEXT_OF("udev", "udev");
TEXT_OF("postgresql", "postgresql");
TEXT_OF("mysql", "mysql");
TEXT_OF("rocksdb", "rocksdb");
TEXT_OF("seastar", "seastar");
TEXT_OF("shell", "shell");
TEXT_OF("json", "json");
