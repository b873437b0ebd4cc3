
# Throughput against latency: all $points, the $edge that no other mean beats, the $front of the file itself, which knows
# what may be due to scatter, and the points with a role.
unit = unit_of(top)
set xlabel 'mean latency of a request'
set ylabel 'throughput, '.unit_name_of(top)
set yrange [0:top / unit * 1.08]
eval sprintf(latency_tics, 'x', 'x')
do for [e=0:11] {
  eval latency_tic('x', e)
  do for [i=2:9] { eval minor_tic('x', e, i) }
}
set xrange [least_ns / 1.5:most_ns * 1.5]
set key @key_below vertical maxcols 1
array role_colours[3] = [red, green, '#000000']
array role_shapes[3] = [9, 11, 5]
held = ''
do for [i=1:3] { if (strlen(titles[i]) > 0) { held = held.' '.i } }
edge_style = is_text ? 'points pt 7' : 'steps lw 2'
plot $points using 1:($2 / unit) with points pt 7 ps (is_text ? 1 : 0.5) lc rgb '#90606060' title 'measured', \
  $edge using 1:($2 / unit) with @edge_style lc rgb blue title 'not beaten in both means', \
  for [i=1:has_front] $front using 1:($2 / unit) with points pt 7 ps (is_text ? 1 : 0.6) lc rgb '#600072B2' title when(has_front, 'on the front, as far as the scatter tells'), \
  for [k=1:words(held)] $roles using ($3 == nth(held, k) ? $1 : 1/0):($2 / unit) with points pt role_shapes[nth(held, k)] ps (is_text ? 1 : 2) lc rgb role_colours[nth(held, k)] title when(words(held), titles[nth(held, k)])
