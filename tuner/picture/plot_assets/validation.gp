
# Measured and predicted cost of writes: $data (number, measured, its range, by CAWL, by the naive model, dirty memory
# measured and by CAWL in bytes). Costs that differ by more than thirty times stand on a logarithmic
# axis, on which a cost of 0 has no place.
is_log = high > 30.0 * low
time_unit = time_unit_of(high)
set xlabel 'write'
set ylabel 'cost of a write, '.time_name_of(high)
set xrange [-0.5:n - 0.5]
set yrange [is_log ? low / time_unit / 1.5 : 0:high / time_unit * (is_log ? 1.5 : 1.15)]
if (is_log) { set logscale y }
if (is_cached) {
  set border 11
  set y2tics
  set y2label 'dirty memory, MB'
  set y2range [0:*]
}
set key @key_below horizontal
plot for [i=1:n_runs > 1] $data using 1:($3 / time_unit):(0):(($4 - $3) / time_unit) with vectors nohead lw 1 lc rgb '#9ECAE8' title when(n_runs > 1, 'range'), \
  for [i=1:is_cached] $data using 1:($7 / 1e6) axes x1y2 with lines lw 1 lc rgb grey title when(is_cached, 'dirty memory, measured'), \
  for [i=1:is_cached] $data using 1:($8 / 1e6) axes x1y2 with lines lw 1.5 dt 2 lc rgb green title when(is_cached, 'dirty memory, CAWL'), \
  $data using 1:($2 / time_unit) with points pt 7 ps 0.4 lc rgb blue title 'measured (median)', \
  $data using 1:($5 / time_unit) with lines lw 2 lc rgb red title 'CAWL', \
  $data using 1:($6 / time_unit) with lines lw 1.5 dt 3 lc rgb '#000000' title 'naive'
