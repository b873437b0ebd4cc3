
# What all pictures share. Set above: terminal, width, height, headline.
is_text = terminal[1:4] eq 'dumb'
if (terminal eq 'png') { set terminal pngcairo noenhanced font 'sans,10' size width,height }
if (terminal eq 'svg') { set terminal svg noenhanced font 'sans-serif,13' size width,height background '#ffffff' }
if (terminal eq 'pdf') { set terminal pdfcairo noenhanced font 'sans,10' size width/96.0,height/96.0 }
if (terminal eq 'sixel') { set terminal sixelgd noenhanced truecolor font 'sans,10' size width,height }
if (terminal eq 'dumb') { set terminal dumb noenhanced size width,height aspect 2,1 mono }
if (terminal eq 'dumb-colours') { set terminal dumb noenhanced size width,height aspect 2,1 ansi256 }
set encoding utf8
set decimalsign '.'
set title headline
if (is_text) {
  set tics nomirror scale 0
} else {
  set grid linecolor rgb '#D9D9D9' linewidth 1
  set border 3 linecolor rgb '#404040'
  set tics nomirror
}

# Colours that people with any colour vision tell apart (Okabe and Ito 2008), and black.
blue = '#0072B2'
orange = '#E69F00'
green = '#009E73'
red = '#D55E00'
grey = '#8C8C8C'
array series[8] = [blue, red, green, orange, '#CC79A7', '#56B4E9', '#000000', grey]

# How intervals stand over a point: error bars of gnuplot 5.4 erase what is behind their middle.
whiskers = 'with vectors heads size screen 0.005,90'

# The key below the picture; entries stand side by side with "horizontal", one a line with "vertical maxcols 1".
key_below = is_text ? 'outside bottom center' : 'outside bottom center reverse Left samplen 2 height 1 width 2'

# Units in which the largest rate or time has one to three digits before the point.
power_of(bps) = bps >= 1e9 ? 3 : bps >= 1e6 ? 2 : bps >= 1e3 ? 1 : 0
unit_of(bps) = 1000.0 ** power_of(bps)
unit_name_of(bps) = word('B/s kB/s MB/s GB/s', power_of(bps) + 1)
time_unit_of(s) = s >= 1 ? 1 : s >= 1e-3 ? 1e-3 : 1e-6
time_name_of(s) = s >= 1 ? 'seconds' : s >= 1e-3 ? 'ms' : 'us'
interval_words = sprintf('%.3g %% interval', 100 * confidence)

# The number of that place in a list of them; an empty list is not gone through, but its first number is asked for.
nth(list, place) = place > words(list) ? 1 : word(list, place) + 0

# The title of what is drawn under a condition: gnuplot leaves room in the key for what an empty loop would draw.
when(condition, words) = condition ? words : ''

# Tics of a logarithmic axis of latencies in ns, with their units.
latency_tics = "set logscale %s 10; set %stics ()"
latency_tic(axis, e) = sprintf("set %stics add ('%d %s' 1e%d)", axis, int(10 ** (e % 3)), word('ns us ms s', e / 3 + 1), e)
# Where an axis spans less than a decade, tics between powers of ten have words, too.
fine_tic(axis, e, i) = sprintf("set %stics add ('%g %s' %ge%d)", axis, i * 10 ** (e % 3), word('ns us ms s', e / 3 + 1), i, e)
minor_tic(axis, e, i) = sprintf("set %stics add ('' %de%d 1)", axis, i, e)
