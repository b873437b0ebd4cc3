
# Bars over one factor: the mean as height, its interval as whiskers, the scatter as colour.
set ylabel 'throughput, '.unit_name_of(top)
set yrange [0:top / unit * 1.05]
set xrange [-0.7:n_x - 0.3]
if (is_text) {
  set boxwidth 0.6
  set key outside bottom horizontal
  plot for [k=1:words(used)] $points using 1:(is_in(nth(used, k), $6, $7) ? $3 / unit : 1/0) with boxes lc rgb class_colours[nth(used, k)] title class_words[nth(used, k)]
} else {
  set boxwidth 0.72
  set grid noxtics
  set key outside right top reverse Left samplen 1.5 title 'std / mean'
  plot for [k=1:words(used)] $points using 1:(is_in(nth(used, k), $6, $7) ? $3 / unit : 1/0) with boxes fillstyle solid border lc rgb '#404040' lc rgb class_colours[nth(used, k)] notitle, \
    for [k=1:words(keys)] keyentry with boxes fillstyle solid border lc rgb '#404040' lc rgb class_colours[nth(keys, k)] title class_words[nth(keys, k)], \
    for [i=1:n_intervals > 0] $points using 1:($4 / unit):(0):(($5 - $4) / unit) @whiskers lw 1.5 lc rgb '#000000' title when(n_intervals > 0, interval_words)
}
