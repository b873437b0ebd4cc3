/* tuner/picture/plot_assets: the assembler reads the files, so that they stay files that gnuplot knows. */
#include "tuner/picture/plot_assets.h"

#include "tuner/base/template.h"

#define FILE_OF(name) TEMPLATE_FILE("plot_assets_" name, "tuner/picture/plot_assets/" name ".gp")

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
