
# The rate of each way of writing over the size of a burst: $curve (size, a rate for each way), $asked (what was asked
# for), $crossings (size, way that crosses there).
unit = unit_of(top)
set xlabel 'size of the burst, bytes'
set ylabel 'rate, '.unit_name_of(top)
set logscale xy
set xrange [low:high]
size_of(exponent) = sprintf('%d', 2 ** (exponent % 10)).word('k m g t', exponent / 10)
set xtics ()
# Every fourth power of two.
do for [exponent=12:48:4] {
  if (2.0 ** exponent <= high * 2) { set xtics add (size_of(exponent) 2.0 ** exponent) }
}
set key @key_below horizontal
do for [i=1:n_crossings] {
  at = word($crossings[i], 1) + 0
  way = word($crossings[i], 2) + 0
  set arrow from first at, graph 0 to first at, graph 1 nohead dashtype 3 lc rgb series[way]
}
# Dashed: a synchronous write often costs what a direct one does, and would hide it.
plot for [i=1:n_ways] $curve using 1:(column(i + 1) / unit) with lines lw 2 dt 1 + (i == sync_way) lc rgb series[i] title ways[i], \
  $asked using 1:($2 / unit) with points pt 7 ps 1.2 lc rgb '#404040' title 'the burst asked for'
