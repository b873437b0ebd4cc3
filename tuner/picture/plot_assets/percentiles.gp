
# Latency by percentile, on an axis that stretches the tail. $curves: place on the axis, latency, its interval, curve.
set xlabel 'percentile of requests'
set ylabel 'latency'
eval sprintf(latency_tics, 'y', 'y')
do for [e=0:11] {
  eval latency_tic('y', e)
  do for [i=2:9] { eval minor_tic('y', e, i) }
}
stats $curves using 1 nooutput
set xrange [0:STATS_max + 0.15 < 5 ? STATS_max + 0.15 : 5]
stats $curves using (log10($2)) nooutput
set yrange [10 ** STATS_min / 1.5:10 ** STATS_max * 1.5]
if (STATS_max - STATS_min < 0.65) {
  do for [e=0:11] {
    do for [i in '1.5 2 3 4 5 7'] { eval fine_tic('y', e, real(i)) }
  }
}
set xtics ('0' 0, '50' 0.30103, '90' 1, '99' 2, '99.9' 3, '99.99' 4, '99.999' 5)
set key @key_below vertical maxcols 1
if (is_pooled) {
  plot for [i=1:n] $curves using ($5 == i ? $1 : 1/0):2 with lines lw 2 lc rgb series[i] title titles[i]
} else {
  plot for [i=1:n] $curves using ($5 == i ? $1 : 1/0):2 with linespoints dt 2 pt i + 4 lw 2 lc rgb series[i] title titles[i], \
    for [i=1:(is_text ? 0 : n)] $curves using ($5 == i ? $1 : 1/0):3:(0):($4-$3) @whiskers lw 1.5 lc rgb series[i] notitle
}
