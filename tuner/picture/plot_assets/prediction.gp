
# Predicted $writes: cost, its least and most, dirty memory; the $bands of states behind it; dirty memory and its limits
# stand on a second axis. Each column stands for per_column writes.
larger(a, b) = a > b ? a : b
stats $writes using 3 nooutput
low = STATS_min
stats $writes using 4 nooutput
high = larger(STATS_max, naive)
# Costs that differ by more stand on a logarithmic axis.
is_log = low > 0 && high > 30.0 * low
time_unit = time_unit_of(high)
time_name = time_name_of(high)
byte_unit = top_bytes >= 1e9 ? 1e9 : top_bytes >= 1e6 ? 1e6 : 1e3
byte_name = top_bytes >= 1e9 ? 'GB' : top_bytes >= 1e6 ? 'MB' : 'kB'
top = top_bytes / byte_unit
has_dirty = top_bytes > 0

set xlabel 'write'
set ylabel 'cost of a write, '.time_name
set xrange [-0.5:n - 0.5]
# Between a few writes there would be tics else.
if (n <= 10) { set xtics 1 }
set format x '%.0f'
set yrange [is_log ? low / 1.5 / time_unit : 0:high <= 0 ? 1 / time_unit : (is_log ? 1.5 : 1.08) * high / time_unit]
if (is_log) { set logscale y 10 }
if (has_dirty) {
  set y2range [0:top]
  set y2tics nomirror
}
if (has_dirty && is_text == 0) {
  set y2label 'dirty memory, '.byte_name
  set border 11 linecolor rgb '#404040'
}
set key @key_below horizontal
array band_colours[2] = ['#FFF3C4', '#F9D3C6']
used = ''
do for [i=1:(has_dirty && is_text == 0 ? 2 : 0)] {
  stats $bands using ($3 == i) nooutput
  if (STATS_sum > 0) { used = used.' '.i }
}
cost_style = per_column > 1 ? 'lines lw 1.5' : n > 200 ? 'points pt 7 ps 0.3' : 'points pt 7 ps 0.7'
plot for [k=1:words(used)] $bands using ($3 == nth(used, k) ? ($1 + $2) / 2 : 1/0):(top / 2):(($2 - $1) / 2):(top / 2) axes x1y2 with boxxyerror fs solid noborder lc rgb band_colours[nth(used, k)] title when(words(used), band_names[nth(used, k)]), \
  for [i=1:per_column > 1 && is_text == 0] $writes using 1:($3 / time_unit):($4 / time_unit) with filledcurves fs transparent solid 0.3 noborder lc rgb red title when(per_column > 1 && is_text == 0, sprintf('least to most of %d writes', per_column)), \
  $writes using 1:($2 / time_unit) with @cost_style lc rgb red title 'cost'.(per_column > 1 ? ', mean' : '').', '.time_name, \
  for [i=1:naive > 0] naive / time_unit with lines lw 1.5 dt 4 lc rgb grey title when(naive > 0, 'naive, mean'), \
  for [i=1:has_dirty] $writes using 1:($5 / byte_unit) axes x1y2 with lines lw 2 lc rgb blue title when(has_dirty, 'dirty memory, '.byte_name), \
  for [i=1:has_dirty && limit_bg > 0 && limit_bg <= top_bytes] limit_bg / byte_unit axes x1y2 with lines lw 1.5 dt 3 lc rgb green title when(has_dirty && limit_bg > 0 && limit_bg <= top_bytes, 'writeback begins'), \
  for [i=1:has_dirty && limit_hard > 0 && limit_hard <= top_bytes] limit_hard / byte_unit axes x1y2 with lines lw 1.5 dt 2 lc rgb green title when(has_dirty && limit_hard > 0 && limit_hard <= top_bytes, 'writers wait')
