/* Proxmox VE's drive is one property string, in a command and in a file. */
#include "tests/tuner/emit/snippet_rig.h"

GROUP(NULL, leave);

TEST(the_drive_stands_in_the_command_and_beside_it)
{
    EXPECT("proxmox", "", "=qm set VMID --virtio0 'STORAGE:vm-VMID-disk-0,cache=none,aio=native,iothread=1'",
           "=# virtio0: STORAGE:vm-VMID-disk-0,cache=none,aio=native,iothread=1");
    EXPECT("proxmox", "bus=virtio-scsi", "\nqm set VMID --scsihw virtio-scsi-single --scsi0 '",
           "\n# scsi0: STORAGE", "qm set replaces the whole line");
}

TEST(volumes_and_absolute_paths_are_taken)
{
    EXPECT("proxmox", "image=local-lvm:vm-7-disk-1", "'local-lvm:vm-7-disk-1,cache=", "^cannot be seen");
    EXPECT("proxmox", "image_format=qcow2 image=/mnt/a.qcow2", "'/mnt/a.qcow2,format=qcow2,cache=");
    EXPECT("proxmox", "image=/mnt/a=b", "'file=/mnt/a=b,format=");
    EXPECT("proxmox", "image=/it's", "'/it'\\''s,format=");
}

TEST(what_would_be_read_otherwise_is_refused)
{
    static const char *const given[] = {
        "image=disk.img",         "image=/a,b",  "image=/a:b", "image=s:a:b", "image=/a b",
        "image=s:a,cache=unsafe", "image=/a\nb", "image=s:",   "image=:a",    "bus=nvme image="};
    for (size_t i = 0; i < N_OF(given); i++)
        EXPECT("proxmox", given[i], "?");
}

TEST(io_uring_is_not_emitted_where_it_hangs_guests)
{
    EXPECT("proxmox", "api=io_uring", "aio=io_uring,iothread=1'", "LVM, CIFS write aio=native instead");
    EXPECT("proxmox", "api=io_uring system.file_system=cifs", "aio=native,iothread=1'");
    EXPECT("proxmox", "api=io_uring system.file_system=cifs direct=0",
           "cache=writeback,aio=threads,iothread=1'");
    EXPECT("proxmox", "api=io_uring direct=0", "LVM, CIFS or krbd write aio=threads instead");
    EXPECT("proxmox", "api=io_uring direct=0 target_version=6", "aio=threads,iothread=1'");
}
