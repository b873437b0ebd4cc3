
# Throughput over a factor that is a number, on a log2 axis, with interval bands; a second factor makes several lines. A
# line is broken where a point is missing, for nothing is known of what lies between its neighbours; bands end where an
# interval is missing. Column 8 is the number on the axis.
unit = unit_of(top)
set xlabel x_title.(x_is_size ? ', bytes' : '')
set logscale x 2
set xrange [x_numbers[1] / 1.3:x_numbers[n_x] * 1.3]
set ylabel 'throughput, '.unit_name_of(top)
set yrange [0:top / unit * 1.05]

# Labels that would touch the one before are left out; their tics stay.
log2(x) = log(x) / log(2)
is_turned = is_text == 0 && n_x * 45 > width
per_octave = (is_text ? width - 10.0 : width - 260.0) / (log2(x_numbers[n_x] / x_numbers[1]) + 0.8)
wide(label) = is_text ? 1.0 + strlen(label) : is_turned ? 15 : 8 * strlen(label)
last = -1e9
set xtics ()
do for [i=1:n_x] {
  place = log2(x_numbers[i]) * per_octave
  fits = place - last >= wide(x_tics[i])
  set xtics add ((fits ? x_tics[i] : '') x_numbers[i])
  last = fits ? place : last
}
if (is_turned) { set xtics rotate by 90 right }

with_band = ''
with_whiskers = ''
do for [y=0:n_y-1] {
  stats $points using ($2 == y ? $9 : 0) nooutput
  if (STATS_sum > 1) { with_band = with_band.' '.(y + 1) }
  if (STATS_sum > 0) { with_whiskers = with_whiskers.' '.(y + 1) }
}
if (is_text) {
  set key outside bottom horizontal
} else {
  set key outside right top
}
if (n_axes == 2) { set key title y_title }
if (is_text) {
  plot for [y=0:n_y-1] $points every :::y::y using 8:($3 / unit) with linespoints pt y + 1 lc rgb series[y + 1] title names[y + 1]
} else {
  plot for [k=1:words(with_band)] $points every :::(nth(with_band, k) - 1)::(nth(with_band, k) - 1) using 8:($4 / unit):($5 / unit) with filledcurves fs transparent solid 0.22 noborder lc rgb series[nth(with_band, k)] notitle, \
    for [y=0:n_y-1] $points every :::y::y using 8:($3 / unit) with linespoints pointsize 0.9 linewidth 2 pt 2 * (y % 4) + 5 lc rgb series[y + 1] title names[y + 1], \
    for [k=1:words(with_whiskers)] $points every :::(nth(with_whiskers, k) - 1)::(nth(with_whiskers, k) - 1) using 8:($4 / unit):(0):(($5 - $4) / unit) @whiskers lw 1 lc rgb series[nth(with_whiskers, k)] notitle
}
