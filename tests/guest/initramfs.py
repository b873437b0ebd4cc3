"""The guest's first file system: busybox, a static fstune, the kernel's modules in the order of loading, init."""
import os
import pathlib
import re
import shutil
import subprocess

# What the disks need; what the kernel has built in is left out.
WANTED = ('virtio_pci', 'virtio_blk', 'virtio_scsi', 'sd_mod', 'nvme', 'ext4', 'crc32c_generic')
APPLETS = ('sh mount umount stty echo base64 sha256sum cut cat insmod sleep tr rm dd poweroff [').split()


def module_files(kernel):
    return {path.name.split('.')[0].replace('-', '_'): path for path in kernel.glob('lib/modules/*/kernel/**/*.ko')}


def depends(path):
    """The modules that a module's own .modinfo names; there is no modules.dep before somebody has run depmod."""
    found = re.search(rb'\0depends=([^\0]*)\0', path.read_bytes())
    return [name.decode().replace('-', '_') for name in found.group(1).split(b',') if name] if found else []


def modules_in_order(kernel, wanted):
    files, order = module_files(kernel), []

    def add(name):
        if name not in files or files[name] in order:
            return
        for other in depends(files[name]):
            add(other)
        order.append(files[name])

    for name in wanted:
        add(name)
    return order


def libraries(program):
    """What the dynamic linker would load for it, itself among them; nothing for a static program."""
    listed = subprocess.run(['ldd', program], capture_output=True, text=True, check=False).stdout
    return re.findall(r'(/\S+) \(0x', listed)


def keep(root, path):
    """The file where it stands here."""
    there = root / str(path)[1:]
    there.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(path, there)


def build(kernel, busybox, programs, target, wanted=WANTED, applets=APPLETS, init='init', plugins=()):
    """Writes the cpio archive `target`, with programs, what they load (plugins, where these stand here), and the libraries of both; not compressed, for
    unpacking is slow in an emulated guest."""
    root = pathlib.Path(f'{target}.root')
    shutil.rmtree(root, ignore_errors=True)
    for name in ('bin', 'modules', 'proc', 'sys', 'dev', 'mnt', 'tmp', 'run', 'var/tmp'):
        (root / name).mkdir(parents=True)
    shutil.copy2(busybox, root / 'bin/busybox')
    for name in applets:
        os.symlink('busybox', root / 'bin' / name)
    for program in programs:
        subprocess.run(['strip', '-o', root / 'bin' / os.path.basename(program), program], check=True)
    for path in (*plugins, *{library for file in (*programs, *plugins) for library in libraries(file)}):
        keep(root, path)
    order = modules_in_order(kernel, wanted)
    for path in order:
        shutil.copy(path, root / 'modules')
    (root / 'modules/order').write_text(''.join(f'{path.name}\n' for path in order), encoding='ascii')
    here = pathlib.Path(__file__).parent
    shutil.copy2(here / init, root / 'init')
    shutil.copy2(here / 'init_steps', root)
    names = '\n'.join(str(path.relative_to(root)) for path in sorted(root.rglob('*')))
    with open(target, 'wb') as out:
        subprocess.run(['cpio', '--quiet', '-o', '-H', 'newc', '-R', '0:0'], input=names.encode(), stdout=out, cwd=root, check=True)
    shutil.rmtree(root)
