
# Throughput over time: the $runs of one point (start, warm-up, seconds, rate, stable), the mean with its interval, and
# where a burst ended.
unit = unit_of(fastest)
top = 1.1 * (fastest > mean ? fastest : mean) / unit
set xlabel is_measurement ? 'time in runs (what lies between them is left out), seconds' : 'time of the search, seconds'
set ylabel 'throughput, '.unit_name_of(fastest)
set yrange [0:top]
set xrange [0:end]
set key @key_below horizontal
set samples 2
set bars 0
run_style = is_text ? "points" : "xerrorbars ps 0.7"
stats $runs using ($2 > 0) nooutput
has_warmup = is_text == 0 && STATS_sum > 0
stats $runs using 5 nooutput
has_stable = STATS_sum > 0
has_unstable = STATS_min < 1
$cliff << EOD
0
1
EOD
plot for [i=1:has_warmup] $runs using ($2 > 0 ? $1 + $2 / 2 : 1/0):(top / 2):($2 / 2):(top / 2) with boxxyerror fs solid noborder lc rgb '#DDDDDD' title when(has_warmup, 'warm-up'), \
  for [i=1:is_text == 0 && low >= 0] '+' using 1:(low / unit):(high / unit) with filledcurves fs transparent solid 0.25 noborder lc rgb orange title when(is_text == 0 && low >= 0, interval_words.' of the mean'), \
  mean / unit with lines lw 1.5 dt 2 lc rgb red title 'mean', \
  for [i=1:burst_end >= 0] $cliff using (burst_end):($1 * top) with lines lw 2.5 lc rgb '#000000' title when(burst_end >= 0, 'the burst ended'), \
  for [i=1:has_unstable] $runs using ($5 == 0 ? $1 + $2 + $3 / 2 : 1/0):($4 / unit):($3 / 2) with @run_style lw 3 pt 7 lc rgb grey title when(has_unstable, 'run, warm-up not stable'), \
  for [i=1:has_stable] $runs using ($5 == 1 ? $1 + $2 + $3 / 2 : 1/0):($4 / unit):($3 / 2) with @run_style lw 3 pt 7 lc rgb blue title when(has_stable, 'run')
