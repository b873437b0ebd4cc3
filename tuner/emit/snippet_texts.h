/* tuner/emit/snippet_texts: the templates of the formats, formats/NAME.txt, as strings. */
#pragma once

extern const char snippet_text_guest[], snippet_text_machine[], snippet_text_plan[];
extern const char snippet_text_qemu_notes[], snippet_text_qemu_devices[];
extern const char snippet_text_qemu[], snippet_text_qemu_drive[], snippet_text_libvirt[],
    snippet_text_proxmox[];
extern const char snippet_text_virtualbox[], snippet_text_vmware[], snippet_text_firecracker[],
    snippet_text_cloud_hypervisor[];
extern const char snippet_text_crosvm[], snippet_text_bhyve[], snippet_text_xen[], snippet_text_kubevirt[];
extern const char snippet_text_fio[], snippet_text_udev[], snippet_text_postgresql[], snippet_text_mysql[];
extern const char snippet_text_rocksdb[], snippet_text_seastar[], snippet_text_shell[], snippet_text_json[];
