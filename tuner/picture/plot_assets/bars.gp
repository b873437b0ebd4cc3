
# Bars over one factor: the mean as height, its interval as whiskers, the number of runs at the foot; the answer stands out.
set ylabel 'throughput, '.unit_name_of(top)
set yrange [0:top / unit * 1.05]
set xrange [-0.7:n_x - 0.3]
set boxwidth (is_text ? 0.6 : 0.72)
if (is_text) {
  set key outside bottom horizontal
} else {
  set grid noxtics
  set key @key_below horizontal
}
box_style = is_text ? 'boxes' : "boxes fillstyle solid border lc rgb '#404040'"
plot for [i=1:n_x > 1] $points using 1:($7 == 0 || $7 == 1 ? $3 / unit : 1/0) with @box_style lc rgb '#A6CBE3' title when(n_x > 1, 'mean'), \
  $points using 1:($7 == 2 ? $3 / unit : 1/0) with @box_style lc rgb blue title best_name, \
  for [i=1:n_intervals > 0 && is_text == 0] $points using 1:($4 / unit):(0):(($5 - $4) / unit) @whiskers lw 1.5 lc rgb '#000000' title when(n_intervals > 0 && is_text == 0, interval_words), \
  for [i=1:n_x <= 24] $points using 1:(0):($10 > 0 ? sprintf('n %d', $10) : ''):($7 == 2 ? 0xffffff : 0x202020) with labels offset 0,0.7 tc rgb variable notitle
