"""Xen's own reader of xl configuration files, libxlutil, as a function; it needs no hypervisor."""
import ctypes
import glob
import os
import struct
import subprocess

VERSION = '4.17'
PACKAGES = f'libxenmisc{VERSION} libxencall1 libxendevicemodel1 libxenevtchn1 libxenforeignmemory1 libxengnttab1 libxenhypfs1 libxenstore4 libxentoolcore1 ' \
           'libxentoollog1 libyajl2'.split()
# In the order in which they need each other.
LIBRARIES = ['libxentoollog.so.1', 'libxentoolcore.so.1', 'libxencall.so.1', 'libxenevtchn.so.1', 'libxengnttab.so.1', 'libxenforeignmemory.so.1',
             'libxendevicemodel.so.1', 'libxenhypfs.so.1', 'libxenstore.so.4', 'libyajl.so.2', f'libxenctrl.so.{VERSION}', f'libxenguest.so.{VERSION}',
             f'libxenlight.so.{VERSION}', f'libxlutil.so.{VERSION}']
DISK_BYTES = 4096  # more than libxl_device_disk has in any version


class Missing(Exception):
    """Why the library cannot be used."""


def unpack(scratch):
    """The libraries' directory, from packages that are downloaded and not installed."""
    packages, root = os.path.join(scratch, 'packages'), os.path.join(scratch, 'root')
    os.makedirs(packages, exist_ok=True)
    try:
        # Root's downloads are done by another user, who may not write here.
        subprocess.run(['apt-get', '-qq', '-o', 'APT::Sandbox::User=root', 'download', *PACKAGES], cwd=packages, check=True, capture_output=True, timeout=60)
        for package in glob.glob(os.path.join(packages, '*.deb')):
            subprocess.run(['dpkg-deb', '-x', package, root], check=True, capture_output=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        raise Missing(f'libxenmisc{VERSION} is not installed and cannot be downloaded ({type(error).__name__})') from error
    found = glob.glob(os.path.join(root, 'usr/lib/*/libxlutil.so.*'))
    if not found:
        raise Missing(f'libxlutil {VERSION} is not in its package')
    return os.path.dirname(found[0]) + '/'


def load(folder):
    """(libxenlight, libxlutil) from a directory, or from the system with ''."""
    loaded = [ctypes.CDLL(folder + name, mode=ctypes.RTLD_GLOBAL) for name in LIBRARIES]
    return loaded[-2:]


class Parser:
    """Reads disks as xl would."""

    def __init__(self, scratch):
        try:
            self.light, self.util = load('')
        except OSError:
            self.light, self.util = load(unpack(scratch))
        self.libc = ctypes.CDLL(None)
        self.libc.fopen.restype = self.util.xlu_cfg_init.restype = ctypes.c_void_p
        self.util.xlu_cfg_get_listitem.restype = ctypes.c_char_p
        for function in ('libxl_disk_backend_to_string', 'libxl_disk_format_to_string'):
            getattr(self.light, function).restype = ctypes.c_char_p
        # Its own messages are not ours to print.
        self.report = ctypes.c_void_p(self.libc.fopen(b'/dev/null', b'w'))

    def specification(self, config, text):
        """The only item of the list `disk`."""
        items, n = ctypes.c_void_p(), ctypes.c_int()
        if self.util.xlu_cfg_readdata(config, text, len(text)) != 0:
            raise ValueError('xl does not read the file')
        if self.util.xlu_cfg_get_list(config, b'disk', ctypes.byref(items), ctypes.byref(n), 1) != 0 or n.value != 1:
            raise ValueError('xl finds no single disk')
        return self.util.xlu_cfg_get_listitem(items, 0)

    def disk(self, text):
        """What xl understands; ValueError where it refuses."""
        config = ctypes.c_void_p(self.util.xlu_cfg_init(self.report, b'snippet'))
        raw = ctypes.create_string_buffer(DISK_BYTES)
        try:
            specification = (ctypes.c_char_p * 1)(self.specification(config, os.fsencode(text)))
            self.light.libxl_device_disk_init(raw)
            if self.util.xlu_disk_parse(config, 1, specification, raw) != 0:
                raise ValueError('xl refuses the disk')
            return self.members(raw.raw)
        finally:
            self.util.xlu_cfg_destroy(config)

    def members(self, raw):
        """Of libxl_device_disk, whose layout libxl 4.17 has: domain, its name, path, vdev, backend, format, script, flags."""
        path, vdev, backend, form, script, removable, writable, is_cdrom, safe = struct.unpack_from('@16xPPiiPiii?', raw)
        if script or removable or is_cdrom or not writable:
            raise ValueError('no ordinary disk')
        return {'path': os.fsdecode(ctypes.string_at(path)), 'vdev': ctypes.string_at(vdev).decode(), 'direct': safe,
                'backend': self.light.libxl_disk_backend_to_string(backend).decode(), 'format': self.light.libxl_disk_format_to_string(form).decode()}
