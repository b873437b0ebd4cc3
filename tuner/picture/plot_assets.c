/* tuner/picture/plot_assets: the assembler reads the files, so that they stay files that gnuplot knows. */
#include "tuner/picture/plot_assets.h"

#define FILE_OF(name)                                                                                        \
    __asm__(".pushsection .rodata\n.global plot_assets_" name "\nplot_assets_" name                          \
            ":\n.incbin \"tuner/picture/plot_assets/" name ".gp\"\n.byte 0\n.popsection\n")

FILE_OF("head");
FILE_OF("levels");
FILE_OF("bars");
FILE_OF("bars3d");
FILE_OF("lines");
FILE_OF("heatmap");
FILE_OF("percentiles");
FILE_OF("time");
FILE_OF("convergence");
FILE_OF("pareto");
FILE_OF("rate");
FILE_OF("history");
FILE_OF("prediction");
FILE_OF("figures");
FILE_OF("advice");
FILE_OF("validation");
FILE_OF("profile");
