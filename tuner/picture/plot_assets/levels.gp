
# Tics with the levels of the factors as text. Set above: kind, n_x, n_y, x_title, y_title, x_tics, y_tics (arrays), n_axes.
unit = unit_of(top)
in_space = kind eq 'bars3d'
margin = 160
line_height = 15
larger(a, b) = a > b ? a : b

x_letters = 0
x_longest = 1
y_longest = 1
do for [i=1:n_x] {
  x_letters = x_letters + 2 + strlen(x_tics[i])
  x_longest = larger(x_longest, strlen(x_tics[i]))
}
do for [i=1:n_y] { y_longest = larger(y_longest, strlen(y_tics[i])) }

# Every how many levels have a label, so that none touches the next.
letters_step(n, size, room) = 1 + n * size / (room > 20 ? room - 10 : 10)
space_step(n, longest) = 1 + n * larger(line_height, 6 * longest) / (1 + width / 3)
flat_step(n, room) = 1 + n * line_height / (room > 2 * margin ? room - margin : margin)
x_step = is_text ? letters_step(n_x, x_longest + 1, width) : in_space ? space_step(n_x, x_longest) : flat_step(n_x, width)
y_step = is_text ? letters_step(n_y, 1, height) : in_space ? space_step(n_y, y_longest) : flat_step(n_y, height)

set xlabel x_title
set xtics ()
set for [i=0:n_x-1:x_step] xtics add (x_tics[i+1] i)
# Labels of many levels on a narrow axis stand upright.
if (is_text == 0 && in_space == 0 && x_letters * 9 + margin > width) { set xtics rotate by 90 right }
if (in_space && n_x > 8) { set xtics font ',8' }
if (n_axes == 2) {
  set ylabel y_title
  set ytics ()
  set for [i=0:n_y-1:y_step] ytics add (y_tics[i+1] i)
  if (in_space && n_y > 8) { set ytics font ',8' }
}

# The scatter of a point as colour: its class by std / mean; the last is of points with one run only. What scatters is pale. The
# answer (mark 2) is of no class.
array class_words[7] = ['up to 1 %', 'up to 2 %', 'up to 5 %', 'up to 10 %', 'up to 20 %', 'over 20 %', 'one run only']
array class_colours[7] = ['#08519C', '#2F7EBC', '#5BA3D0', '#8FC3DF', '#BAD9EC', '#DCEAF5', '#E4E4E4']
class_of(share) = share < 0 ? 7 : share <= 0.01 ? 1 : share <= 0.02 ? 2 : share <= 0.05 ? 3 : share <= 0.1 ? 4 : share <= 0.2 ? 5 : 6
is_in(c, share, mark) = mark >= 0 && mark < 2 && class_of(share) == c
used = ''
do for [c=1:7] {
  stats $points using (is_in(c, $6, $7)) nooutput
  if (STATS_sum > 0) { used = used.' '.c }
}
keys = is_text ? used : '1 2 3 4 5 6'.(strstrt(used, '7') > 0 ? ' 7' : '')
