/* libvirt's elements stand where they belong, with values that libvirt and QEMU both take. */
#include "tests/tuner/emit/snippet_rig.h"

EACH_TEST(snippet_reset, NULL);

TEST(a_virtio_disk_has_queue_and_thread_itself)
{
    SNIPPET_EXPECT("libvirt", "\n<domain>\n", "\n  <iothreads>1</iothreads>\n",
                   "<driver name='qemu' type='raw' cache='none' io='native' queue_size='256' iothread='1'/>",
                   "<target dev='vda' bus='virtio'/>");
    snippet_recommendation.point.direct = 0;
    snippet_expect("libvirt", "cache='writeback' io='threads'");
    snippet_request.directsync = true;
    snippet_expect("libvirt", "cache='writethrough' io='threads'");
}

TEST(of_a_scsi_disk_the_controller_has_the_thread)
{
    static const char controller[] = "<controller type='scsi' index='0' model='virtio-scsi'>\n"
                                     "      <driver iothread='1' cmd_per_lun='128'/>";
    snippet_request.bus = SNIPPET_BUS_VIRTIO_SCSI;
    SNIPPET_EXPECT("libvirt", controller, "<driver name='qemu' type='raw' cache='none' io='native'/>",
                   "<target dev='sda' bus='scsi'/>", "not mapped: the queue's size");
    snippet_expect_no("libvirt", "queue_size");
    /* What QEMU's own queue of 256 holds. */
    snippet_recommendation.point.queue_depth = 1000;
    snippet_expect("libvirt", "cmd_per_lun='254'");
}

TEST(names_are_escaped)
{
    snippet_request.image = "/<a>&'\".img";
    snippet_expect("libvirt", "<source file='/&lt;a&gt;&amp;&apos;&quot;.img'/>");
}

TEST(what_cannot_be_said_is_refused)
{
    snippet_request.image = "disk.img";
    snippet_expect_refused("libvirt", "absolute paths only");
    snippet_request.image = "/a\nb";
    snippet_expect_refused("libvirt", "control character");
    snippet_request.image = "/a\xff";
    snippet_expect_refused("libvirt", "UTF-8");
    snippet_request.image = "/a";
    snippet_request.bus = SNIPPET_BUS_NVME;
    snippet_expect_refused("libvirt", "use virtio-blk or virtio-scsi");
}

TEST(versions_gate_queue_io_uring_and_several_threads)
{
    snippet_recommendation.point.api = API_IO_URING;
    snippet_recommendation.point.threads = 2;
    snippet_expect("libvirt", "io='io_uring' queue_size='256' iothread='1'/>");
    snippet_request.version[0] = 7;
    snippet_request.version[1] = 7;
    snippet_expect("libvirt", "io='io_uring' iothread='1'/>");
    snippet_request.version[0] = 6;
    snippet_request.version[1] = 2;
    snippet_expect("libvirt", "io='native' iothread='1'/>");
    snippet_request.version[0] = 10;
    snippet_request.version[1] = 0;
    SNIPPET_EXPECT("libvirt", "\n  <iothreads>2</iothreads>\n",
                   "queues='2' queue_size='256'>\n        <iothreads>\n          <iothread id='1'/>\n"
                   "          <iothread id='2'/>\n        </iothreads>\n      </driver>");
    snippet_expect_no("libvirt", "iothread='1'");
    snippet_request.version[0] = 1;
    snippet_request.version[1] = 2;
    snippet_expect_refused("libvirt", "needs libvirt 1.3");
}
