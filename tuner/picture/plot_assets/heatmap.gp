
# Throughput over two factors as colour, with the best point and those as good as it marked. Cells above max_numbers have
# no numbers, which would overlap.
max_numbers = 160
# In cells with room for it stands the share of the highest of the picture, too. Ranges would hold for stats as well.
stats $points using 3 nooutput
highest = STATS_max
share(value) = n_x <= 12 && n_y <= 12 ? sprintf("\n%.0f %%", 100 * value / highest) : ''
edge = is_text ? 0.8 : 0.5
set xrange [-edge:n_x - 1 + edge]
set yrange [-0.5:n_y - 0.5]
digits(value) = sprintf(value >= 99.95 ? '%.0f' : value >= 9.995 ? '%.1f' : value >= 0.0995 ? '%.2f' : '%.3f', value)
stats $points using ($7 == -1) nooutput
n_missing = STATS_sum
stats $points using ($7 == 1) nooutput
n_equal = STATS_sum
if (is_text) {
  set key outside bottom horizontal title 'throughput, '.unit_name_of(top)
  plot $points using ($7 == 2 ? $1 : 1/0):2 with dots title '* '.best_name, \
    for [i=1:n_equal > 0] $points using ($7 == 1 ? $1 : 1/0):2 with dots title when(n_equal > 0, '= as good as the best'), \
    $points using ($7 < 0 ? 1/0 : $1):2:(digits($3 / unit).($7 == 2 ? '*' : $7 == 1 ? '=' : '')) with labels notitle
} else {
  set palette defined (0 '#440154', 1 '#3B528B', 2 '#21918C', 3 '#5EC962', 4 '#FDE725')
  set border 15
  set tics scale 0
  unset grid
  # Without marks at the tics, gnuplot leaves too little room for their labels.
  set cbrange [0:top / unit]
  set cblabel 'throughput, '.unit_name_of(top) offset 0.9
  set ylabel offset -0.5
  set key @key_below horizontal
  # Frames are black on white, which every colour of the palette leaves visible; numbers black on its light half.
  plot for [i=1:n_missing > 0] $points using ($7 < 0 ? $1 : 1/0):2:(0.5):(0.5) with boxxyerror fs pattern 4 border lc rgb '#D0D0D0' lc rgb '#D0D0D0' title when(n_missing > 0, 'not measured'), \
    $points using ($7 < 0 ? 1/0 : $1):2:(0.5):(0.5):($3 / unit) with boxxyerror fs solid noborder lc palette notitle, \
    for [i=1:n_equal > 0] $points using ($7 == 1 ? $1 : 1/0):2:(0.44):(0.42) with boxxyerror fs empty border lc rgb '#FFFFFF' lw 5 lc rgb '#FFFFFF' notitle, \
    for [i=1:n_equal > 0] $points using ($7 == 1 ? $1 : 1/0):2:(0.44):(0.42) with boxxyerror fs empty border lc rgb '#000000' lw 2 dt (8,6) lc rgb '#000000' title when(n_equal > 0, 'as good as the best'), \
    $points using ($7 == 2 ? $1 : 1/0):2:(0.44):(0.42) with boxxyerror fs empty border lc rgb '#FFFFFF' lw 5 lc rgb '#FFFFFF' notitle, \
    $points using ($7 == 2 ? $1 : 1/0):2:(0.44):(0.42) with boxxyerror fs empty border lc rgb '#000000' lw 3 lc rgb '#000000' title best_name.(n_x <= 12 && n_y <= 12 ? '; %: of the best shown' : ''), \
    for [i=1:n_x * n_y - n_missing <= max_numbers] $points using ($7 < 0 ? 1/0 : $1):2:(digits($3 / unit).share($3)):($3 > 0.6 * top ? 0x000000 : 0xffffff) with labels font (terminal eq 'svg' ? ',11' : ',8') tc rgb variable notitle
}
