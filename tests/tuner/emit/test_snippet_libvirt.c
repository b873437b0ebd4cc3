/* libvirt's elements stand where they belong, with values that libvirt and QEMU both take. */
#include "tests/tuner/emit/snippet_rig.h"

GROUP(NULL, leave);

TEST(a_virtio_disk_has_queue_and_thread_itself)
{
    EXPECT("libvirt", "", "\n<domain>\n", "=  <iothreads>1</iothreads>",
           "<driver name='qemu' type='raw' cache='none' io='native' queue_size='256' iothread='1'/>",
           "<target dev='vda' bus='virtio'/>");
    EXPECT("libvirt", "direct=0", "cache='writeback' io='threads'");
    EXPECT("libvirt", "direct=0 directsync", "cache='writethrough' io='threads'");
}

TEST(of_a_scsi_disk_the_controller_has_the_thread)
{
    static const char controller[] = "<controller type='scsi' index='0' model='virtio-scsi'>\n"
                                     "      <driver iothread='1' cmd_per_lun='128'/>";
    EXPECT("libvirt", "bus=virtio-scsi", controller,
           "<driver name='qemu' type='raw' cache='none' io='native'/>", "<target dev='sda' bus='scsi'/>",
           "not mapped: the queue's size", "^queue_size");
    /* What QEMU's own queue of 256 holds. */
    EXPECT("libvirt", "bus=virtio-scsi queue_depth=1000", "cmd_per_lun='254'");
}

TEST(names_are_escaped)
{
    EXPECT("libvirt", "image=/<a>&'\".img", "<source file='/&lt;a&gt;&amp;&apos;&quot;.img'/>");
    EXPECT("libvirt", "image=/\xc3\xbc.img", "/\xc3\xbc.img");
}

TEST(what_cannot_be_said_is_refused)
{
    EXPECT("libvirt", "image=disk.img", "?absolute paths only");
    EXPECT("libvirt", "image=/\xe2\x80\xa8.img", "?control character");
    EXPECT("libvirt", "image=/a\xff", "?UTF-8");
    EXPECT("libvirt", "bus=nvme", "?use virtio-blk or virtio-scsi");
}

TEST(versions_gate_queue_io_uring_and_several_threads)
{
    EXPECT("libvirt", "api=io_uring threads=2", "io='io_uring' queue_size='256' iothread='1'/>");
    EXPECT("libvirt", "api=io_uring threads=2 target_version=7.7", "io='io_uring' iothread='1'/>");
    EXPECT("libvirt", "api=io_uring threads=2 target_version=6.2", "io='native' iothread='1'/>");
    EXPECT("libvirt", "api=io_uring threads=2 target_version=10", "=  <iothreads>2</iothreads>",
           "queues='2' queue_size='256'>\n        <iothreads>\n          <iothread id='1'/>\n"
           "          <iothread id='2'/>\n        </iothreads>\n      </driver>",
           "^iothread='1'");
    EXPECT("libvirt", "target_version=1.2", "?needs libvirt 1.3");
}

TEST(a_disk_that_tunes_itself_is_one_of_the_network)
{
    EXPECT("libvirt", "self_tuning image=/a",
           "=<!-- nbdkit -f -U /run/fstune-disk0.sock fstune file='/a' history='/a.fstune' -->",
           "=    <disk type='network' device='disk'>\n"
           "      <driver name='qemu' type='raw' cache='writeback' queue_size='256' iothread='1'/>\n"
           "      <source protocol='nbd' name=''>\n"
           "        <host transport='unix' socket='/run/fstune-disk0.sock'/>\n"
           "      </source>\n"
           "      <target dev='vda' bus='virtio'/>\n",
           "^replace <driver> alone", "^not used");
    EXPECT("libvirt", "self_tuning directsync image=/a", "?leave out --directsync or --self-tuning");
    EXPECT("libvirt", "self_tuning image=/a--b", "?rename or link the file");
    EXPECT("libvirt", "self_tuning bus=virtio-scsi image=/a",
           "=      <driver name='qemu' type='raw' cache='writeback'/>", "socket='/run/fstune-disk0.sock'");
}
