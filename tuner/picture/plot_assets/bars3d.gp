
# Bars over two factors, in space: the mean as height, the answer in a colour of its own, the others the paler the more they scatter.
set zlabel 'throughput, '.unit_name_of(top) rotate by 90 offset -1,0
set xrange [-0.6:n_x - 0.4]
set yrange [-0.6:n_y - 0.4]
set zrange [0:top / unit * 1.02]
set xyplane at 0
set view 58,318,0.95,1
set border 895 lc rgb '#404040'
set grid x y z vertical
set title offset 0,1
set xtics offset 0.5,-0.4
set ytics offset -1,-0.4
set xlabel offset 0,-1
set ylabel offset 0,-1
set boxwidth 0.6
set boxdepth 0.6
if (is_text) {
  splot for [k=1:words(used)] $points using (is_in(nth(used, k), $6, $7) ? $1 : 1/0):2:($3 / unit) with impulses lc rgb class_colours[nth(used, k)] title class_words[nth(used, k)], \
    $points using ($7 == 2 ? $1 : 1/0):2:($3 / unit) with impulses lc rgb orange title best_name
} else {
  set pm3d depthorder base
  set pm3d lighting primary 0.6 specular 0
  set key at screen 0.99,0.97 right top reverse Left samplen 1.5 title 'std / mean'
  # The key is written apart: what paints a bar does not reach its key.
  splot for [k=1:words(used)] $points using (is_in(nth(used, k), $6, $7) ? $1 : 1/0):2:($3 / unit) with boxes fillstyle solid 1.0 border lc rgb '#303030' fc rgb class_colours[nth(used, k)] notitle, \
    $points using ($7 == 2 ? $1 : 1/0):2:($3 / unit) with boxes fillstyle solid 1.0 border lc rgb '#303030' fc rgb orange notitle, \
    keyentry with boxes fillstyle solid 1.0 border lc rgb '#303030' lc rgb orange title best_name, \
    for [k=1:words(keys)] keyentry with boxes fillstyle solid 1.0 border lc rgb '#303030' lc rgb class_colours[nth(keys, k)] title class_words[nth(keys, k)]
}
