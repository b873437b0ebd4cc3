/* tuner/picture/plot_assets: the files of tuner/picture/plot_assets/ inside the program: what gnuplot draws
 * of the variables and data that a kind of picture writes before them. */
#pragma once

/* Each is a string. */
extern const char plot_assets_head[], plot_assets_levels[], plot_assets_bars[], plot_assets_bars3d[],
    plot_assets_lines[], plot_assets_heatmap[], plot_assets_percentiles[], plot_assets_time[],
    plot_assets_convergence[], plot_assets_pareto[], plot_assets_rate[], plot_assets_history[],
    plot_assets_prediction[], plot_assets_figures[], plot_assets_advice[], plot_assets_validation[],
    plot_assets_profile[];
