
# The course of a search: $runs, and the $best mean so far with its interval.
set xlabel 'time of the search, seconds'
set xrange [0:end * 1.02]
if (is_latency) {
  unit = 1
  set ylabel 'mean latency'
  eval sprintf(latency_tics, 'y', 'y')
  do for [e=0:11] {
    eval latency_tic('y', e)
    do for [i=2:9] { eval minor_tic('y', e, i) }
  }
} else {
  unit = unit_of(top)
  set ylabel 'throughput, '.unit_name_of(top)
  set yrange [0:top / unit * 1.1]
}
set key @key_below horizontal
plot for [i=1:(is_text ? 0 : 1)] $best using 1:($3 / unit):($4 / unit) with filledcurves fs transparent solid 0.3 noborder lc rgb blue title when(is_text == 0, interval_words.' of the best'), \
  $runs using 1:($2 / unit) with points pt 7 ps (is_text ? 1 : 0.5) lc rgb '#90606060' title 'run', \
  $best using 1:($2 / unit) with lines lw 2.5 lc rgb blue title 'best mean so far'
