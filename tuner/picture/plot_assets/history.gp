
# Throughput of the settings in force, night by night: $nights (time, mean, interval; the line breaks where other settings
# are in force), and $events (time, height, kind) with changes and rollbacks as lines, alarms and skipped nights as points.
unit = unit_of(top)
set ylabel 'throughput, '.unit_name_of(top)
set yrange [0:height_of_all / unit]

# Tics on round times in UTC, so far apart that their labels do not touch.
day = 86400.0
array steps[17] = [60, 300, 900, 3600, 3 * 3600, 6 * 3600, 12 * 3600, day, 2 * day, 7 * day, 14 * day, 28 * day, 91 * day, 182 * day, 364 * day, 1820 * day, 36400 * day]
step = steps[17]
do for [i=16:1:-1] {
  if (steps[i] * room / (to - from) >= (is_text ? 1 : 8) * 14) { step = steps[i] }
}
set xtics time format (step >= day ? '%Y-%m-%d' : '%m-%d %H:%M')
set xtics ceil(from / step) * step, step
set xlabel 'night, UTC'.(step >= day ? '' : strftime(', %Y', from))
set xrange [from:to]
# Room for half a date behind the axis.
set rmargin (is_text ? 6 : 7)
set key @key_below horizontal

label_font = is_text ? '' : terminal eq 'svg' ? ',11' : ',8'
do for [i=1:n_labels] {
  at = word($labels[i], 1) + 0
  level = word($labels[i], 2) + 0
  if (word($labels[i], 3) + 0) {
    set label labels[i] at first at, graph level right offset character -0.7,0 front font label_font
  } else {
    set label labels[i] at first at, graph level left offset character 0.7,0 front font label_font
  }
}
array has[4] = [0, 0, 0, 0]
do for [k=1:4] {
  stats $events using ($3 == k) nooutput
  has[k] = STATS_sum > 0
}
many = n_nights > 120
night_style = is_text ? "pt 'o'" : many ? 'pt 7 ps 0.4 lw 1' : 'pt 7 ps 0.8 lw 1.5'
range_style = many ? 'with vectors nohead lw 1 lc rgb "#A6CBE3"' : whiskers.' lw 1 lc rgb blue'
change_style = is_text ? 'lines' : 'lines lw 1.5 lc rgb "#000000"'
rollback_style = is_text ? 'lines' : 'lines lw 1.5 dt (6,5) lc rgb red'
skipped_style = is_text ? "points pt 'x'" : 'points pt 2 ps 0.9 lw 1.5 lc rgb "#606060"'
alarm_style = is_text ? "points pt '!'" : 'points pt 6 ps 2.4 lw 2.5 lc rgb red'
plot for [i=1:has[1]] $events using ($3 == 1 ? $1 : 1/0):($2 / unit) with @change_style title when(has[1], 'new setting'), \
  for [i=1:has[2]] $events using ($3 == 2 ? $1 : 1/0):($2 / unit) with @rollback_style title when(has[2], 'rolled back'), \
  for [i=1:is_text == 0] $nights using 1:($3 / unit):(0):(($4 - $3) / unit) @range_style notitle, \
  $nights using 1:($2 / unit) with linespoints @night_style lc rgb blue title 'current setting'.(is_text ? '' : ', '.interval_words), \
  for [i=1:has[3]] $events using ($3 == 3 ? $1 : 1/0):($2 / unit) with @skipped_style title when(has[3], 'night without a result'), \
  for [i=1:has[4]] $events using ($3 == 4 ? $1 : 1/0):($2 / unit) with @alarm_style title when(has[4], 'alarm')
