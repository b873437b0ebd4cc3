/* tuner/emit/snippet_own: what the templates of some formats leave to C: figures, looks at the image, and
 * refusals that need both. Each is called by `@own`: 0 or a negative errno with a text. */
#pragma once

#include "tuner/emit/snippet_template.h"

int snippet_own_qemu(struct snippet_template *run);
int snippet_own_libvirt(struct snippet_template *run);
int snippet_own_proxmox(struct snippet_template *run);
int snippet_own_kubevirt(struct snippet_template *run);
int snippet_own_fio(struct snippet_template *run);
int snippet_own_udev(struct snippet_template *run);
int snippet_own_postgresql(struct snippet_template *run);
int snippet_own_mysql(struct snippet_template *run);
int snippet_own_rocksdb(struct snippet_template *run);
int snippet_own_seastar(struct snippet_template *run);
int snippet_own_json(struct snippet_template *run);
