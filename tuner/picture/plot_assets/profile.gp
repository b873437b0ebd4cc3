
# A recording. $requests: second, place in bytes, 1 for a write; $rate: second, bytes read and written a second; $sizes: power of two, per cent
# of reads and writes; $caches: bytes, per cent of uses served. seconds and span are the ends of the axes; letters show the first part alone.
byte_name_of(bytes) = word('B kB MB GB', power_of(bytes) + 1)
size_name(e) = sprintf('%d%s', 2 ** (e % 10), word("'' k m g t", e / 10 + 1) eq "''" ? '' : word("'' k m g t", e / 10 + 1))
# Half of the picture has room for nine sizes.
step_of(first, last) = last - first > 8 ? int((last - first) / 8) + 1 : 1
place_unit = unit_of(span)
s_unit = seconds >= 1 ? 1 : 1e-3
s_name = seconds >= 1 ? 's' : 'ms'
dot = is_text ? 'points pt' : 'points ps 0.35 pt'

if (!is_text) {
  set multiplot layout 2,2 title headline margins 0.075,0.985,0.1,0.88 spacing 0.085,0.15
  unset title
}
set xlabel 'time, '.s_name
set ylabel 'place in the files, '.byte_name_of(span)
set xrange [0:seconds / s_unit]
set yrange [0:span / place_unit * (is_text ? 1 : 1.17)]
set key @key_below horizontal
if (!is_text) { set key inside top right opaque width 0 height 0 }
plot for [i=1:has_reads] $requests using ($3 == 0 ? $1 / s_unit : 1/0):($2 / place_unit) with @dot 7 lc rgb blue title when(has_reads, 'reads'), \
  for [i=1:has_writes] $requests using ($3 == 1 ? $1 / s_unit : 1/0):($2 / place_unit) with @dot 5 lc rgb red title when(has_writes, 'writes')

if (!is_text) {
  unit = unit_of(top)
  set ylabel 'rate, '.unit_name_of(top)
  set yrange [0:top / unit * 1.15]
  plot for [i=1:has_reads] $rate using ($1 / s_unit):($2 / unit) with lines lw 1.5 lc rgb blue title when(has_reads, 'reads'), \
    for [i=1:has_writes] $rate using ($1 / s_unit):($3 / unit) with lines lw 1.5 lc rgb red title when(has_writes, 'writes')

  # What is counted is what lies inside the axes.
  set autoscale xy
  stats $sizes using 1 name 'size' nooutput
  stats $sizes using ($2 > $3 ? $2 : $3) name 'share' nooutput
  set xlabel 'request size, from this to the next'
  set ylabel 'requests, %'
  set xrange [size_min - 1:size_max + 1]
  set yrange [0:share_max * 1.2]
  set xtics ()
  first = int(size_min)
  last = int(size_max)
  do for [e=first:last:step_of(first, last)] { set xtics add (size_name(e) e) }
  set boxwidth 0.4
  set style fill solid 0.8 noborder
  plot for [i=1:has_reads] $sizes using ($1 - 0.2):2 with boxes lc rgb blue title when(has_reads, 'reads'), \
    for [i=1:has_writes] $sizes using ($1 + 0.2):3 with boxes lc rgb red title when(has_writes, 'writes')

  set autoscale xy
  stats $caches using 1 name 'cache' nooutput
  set xlabel 'size of a cache'
  set ylabel 'uses of blocks served, %'
  set xtics auto
  set xtics ()
  first = floor(log(cache_min) / log(2))
  last = ceil(log(cache_max) / log(2))
  do for [e=first:last:step_of(first, last)] { set xtics add (size_name(e) 2.0 ** e) }
  set logscale x 2
  set xrange [cache_min / 1.1:cache_max * 1.1 * (cache_max > cache_min ? 1 : 2)]
  set yrange [0:105]
  unset key
  plot $caches using 1:2 with lines lw 2 lc rgb green notitle
  unset multiplot
}
