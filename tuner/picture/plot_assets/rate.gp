
# Latency over the offered rate. $rates: offered, achieved, mean, p50, p90, p99, p99.9, p99 of the best and the worst run.
unit = unit_of(top)
set xlabel 'offered rate, '.unit_name_of(top)
set ylabel 'latency from when a request was due'
eval sprintf(latency_tics, 'y', 'y')
do for [e=0:11] {
  eval latency_tic('y', e)
  do for [i=2:9] { eval minor_tic('y', e, i) }
}
set xrange [0:top / unit * 1.05]
stats $rates using (log10($4)) name 'low' nooutput
stats $rates using (log10($7 > 0 ? $7 : $6 > 0 ? $6 : $4)) name 'high' nooutput
set yrange [10 ** low_min / 1.5:10 ** high_max * 1.5]
set y2label 'achieved, '.unit_name_of(top)
set y2range [0:(full > top ? full : top) / unit * 1.05]
if (!is_text) { set y2tics nomirror } else { unset y2label }
set key @key_below horizontal
achieved_style = is_text ? 'points pt 1' : 'lines dt 2 lw 2'
names = 'p50 p90 p99 p99.9'
plot $rates using ($1 / unit):($2 / unit) axes x1y2 with @achieved_style lc rgb grey title 'achieved', \
  for [i=1:4] $rates using ($1 / unit):(column(i + 3)) with linespoints pt i + 4 lw 2 lc rgb series[i] title word(names, i), \
  for [i=1:!is_text] $rates using ($1 / unit):8:(0):($9-$8) @whiskers lw 1.5 lc rgb series[3] title when(!is_text, 'p99 of single runs')
