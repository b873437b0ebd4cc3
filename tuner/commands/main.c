/* fstune: finds the I/O setting that fits a workload on a file system. */
#include "tuner/commands/command.h"

int main(int argc, char **argv)
{
    return program_run(argc, argv);
}
