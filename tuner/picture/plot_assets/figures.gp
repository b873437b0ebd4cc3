
# $figures: series, line, value, low, high. One line a name, from the top down; series side by side within a line.
# Something below 0 has no place on a logarithmic axis: its interval begins at the edge.
stats $figures using (is_log && $3 <= 0 ? 1/0 : $3) nooutput
least = STATS_min
most = STATS_max
stats $figures using ($5 > 0 || is_log == 0 ? $5 : 1/0) nooutput
most = STATS_max > most ? STATS_max : most
stats $figures using 4 nooutput
least = is_log == 0 && STATS_min < least ? STATS_min : least
if (is_log) {
  set logscale x 10
  set format x '%.0s %cs'
  left = least / 2
  set xrange [left:most * 2]
} else {
  least = least > 0 ? 0 : least
  most = most < limit * 1.2 ? limit * 1.2 : most
  left = least - 0.03 * (most - least)
  set xrange [left:most + 0.03 * (most - least)]
}
set yrange [n_lines + 0.5:0.5]
set ytics ()
do for [i=1:n_lines] { set ytics add (names[i] i) }
set xlabel quantity
set key @key_below horizontal
if (limit > 0) { set arrow from limit, graph 0 to limit, graph 1 nohead lw 1.5 dt 2 lc rgb grey }
lift(s) = (s - (n_series + 1) / 2.0) * 0.5 / n_series
shown(x) = is_log && x < left ? left : x
plot for [s=1:n_series] $figures using ($1 == s ? shown($4) : 1/0):($2 + lift(s)):(shown($5) - shown($4)):(0) @whiskers lw 1.5 lc rgb series[(s - 1) % 8 + 1] notitle, \
  for [s=1:n_series] $figures using ($1 == s && (is_log == 0 || $3 > 0) ? $3 : 1/0):($2 + lift(s)) with points pt 7 ps 0.9 lc rgb series[(s - 1) % 8 + 1] title when(n_series > 1, series_names[s])
