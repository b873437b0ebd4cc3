/* Proxmox VE's drive is one property string, in a command and in a file. */
#include "tests/tuner/emit/snippet_rig.h"

EACH_TEST(snippet_reset, NULL);

TEST(the_drive_stands_in_the_command_and_beside_it)
{
    SNIPPET_EXPECT("proxmox",
                   "\nqm set VMID --virtio0 'STORAGE:vm-VMID-disk-0,cache=none,aio=native,iothread=1'\n",
                   "\n# virtio0: STORAGE:vm-VMID-disk-0,cache=none,aio=native,iothread=1\n");
    snippet_request.bus = SNIPPET_BUS_VIRTIO_SCSI;
    SNIPPET_EXPECT("proxmox", "\nqm set VMID --scsihw virtio-scsi-single --scsi0 '", "\n# scsi0: STORAGE",
                   "qm set replaces the whole line");
}

TEST(volumes_and_absolute_paths_are_taken)
{
    snippet_request.image = "local-lvm:vm-7-disk-1";
    snippet_expect("proxmox", "'local-lvm:vm-7-disk-1,cache=");
    snippet_expect_no("proxmox", "cannot be seen");
    snippet_request.image = "/mnt/a.qcow2";
    snippet_request.image_format = SNIPPET_IMAGE_QCOW2;
    snippet_expect("proxmox", "'/mnt/a.qcow2,format=qcow2,cache=");
    snippet_request.image = "/mnt/a=b";
    snippet_expect("proxmox", "'file=/mnt/a=b,format=");
    snippet_request.image = "/it's";
    snippet_expect("proxmox", "'/it'\\''s,format=");
}

TEST(what_would_be_read_otherwise_is_refused)
{
    static const char *const paths[] = {"disk.img", "/a,b",  "/a:b", "s:a:b", "s:a,cache=unsafe",
                                        "/a b",     "/a\nb", "s:",   ":a"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        snippet_request.image = paths[i];
        snippet_expect_refused("proxmox", "");
    }
    snippet_request.image = "";
    snippet_request.bus = SNIPPET_BUS_NVME;
    snippet_expect_refused("proxmox", "use virtio-scsi");
}

TEST(io_uring_is_not_emitted_where_it_hangs_guests)
{
    snippet_recommendation.point.api = API_IO_URING;
    SNIPPET_EXPECT("proxmox", "aio=io_uring,iothread=1'", "LVM, CIFS write aio=native instead");
    strcpy(snippet_recommendation.file_system, "cifs");
    snippet_expect("proxmox", "aio=native,iothread=1'");
    snippet_recommendation.point.direct = 0;
    snippet_expect("proxmox", "cache=writeback,aio=threads,iothread=1'");
    strcpy(snippet_recommendation.file_system, "ext4");
    snippet_expect("proxmox", "LVM, CIFS or krbd write aio=threads instead");
    snippet_request.version[0] = 6;
    snippet_expect("proxmox", "aio=threads,iothread=1'");
}
