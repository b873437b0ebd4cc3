
# A recording. $requests: second, place in bytes, 1 for a write; $rate: second, bytes read and written a second; $sizes: power of two, per cent
# of reads and writes; of a document, has_places is 0, and $kinds has second, requests a second of four kinds, bytes a second; $caches: bytes, per cent of uses served. seconds and span are the ends of the axes; letters show the first part alone.
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
set xrange [0:seconds / s_unit]
set key @key_below horizontal
if (!is_text) { set key inside top right opaque width 0 height 0 }

# Single requests, or of a document the rates of the four kinds, as steps: reads are thicker, so that equal rates of writes do not hide them.
if (has_places) {
  set ylabel 'place in the files, '.byte_name_of(span)
  set yrange [0:span / place_unit * (is_text ? 1 : 1.17)]
  plot for [i=1:has_reads] $requests using ($3 == 0 ? $1 / s_unit : 1/0):($2 / place_unit) with @dot 7 lc rgb blue title when(has_reads, 'reads'), \
    for [i=1:has_writes] $requests using ($3 == 1 ? $1 / s_unit : 1/0):($2 / place_unit) with @dot 5 lc rgb red title when(has_writes, 'writes')
} else {
  kind_names = "'reads in sequence' 'reads at random' 'writes in sequence' 'writes at random'"
  array kind_colours[4] = [blue, '#56B4E9', red, orange]
  request_unit = unit_of(top_requests)
  set ylabel 'requests/s'.word("'' ', thousand' ', million' ', thousand million'", power_of(top_requests) + 1)
  set yrange [0:top_requests / request_unit * (is_text ? 1 : 1.3)]
  do for [p=1:n_phases] { set arrow p from phases[p] / s_unit, graph 0 to phases[p] / s_unit, graph 1 nohead dt 2 lw 1.5 lc rgb grey back }
  if (!is_text) { set key maxcols 2 }
  plot for [k=1:4] $kinds using (word(has_kind, k) + 0 ? $1 / s_unit : 1/0):(column(k + 1) / request_unit) with steps lw (k <= 2 ? 3 : 1.3) lc rgb kind_colours[k] \
    title when(word(has_kind, k) + 0, word(kind_names, k))
}

if (!is_text) {
  unit = unit_of(top)
  set ylabel 'rate, '.unit_name_of(top)
  set yrange [0:top / unit * (has_places ? 1.15 : 1.3)]
  if (has_places) {
    plot for [i=1:has_reads] $rate using ($1 / s_unit):($2 / unit) with lines lw 1.5 lc rgb blue title when(has_reads, 'reads'), \
      for [i=1:has_writes] $rate using ($1 / s_unit):($3 / unit) with lines lw 1.5 lc rgb red title when(has_writes, 'writes')
  } else {
    plot $kinds using ($1 / s_unit):($6 / unit) with steps lw 1.5 lc rgb green title 'reads and writes', \
      for [i=1:n_phases > 0] 1/0 with lines dt 2 lw 1.5 lc rgb grey title when(n_phases > 0, 'another mix begins')
    unset arrow
  }

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
  stats $caches using 2 name 'served' nooutput
  if (served_max <= 0) { set label 1 'no block is used twice' at graph 0.5, graph 0.5 center textcolor rgb grey }
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
