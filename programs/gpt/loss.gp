# loss.gp: draws what `gpt train --curve FILE` wrote, into FILE.svg: loss and validation over steps.
#   gnuplot -e "table='results/gpt.tsv'" programs/gpt/loss.gp
set terminal svg size 720,420 background rgb 'white'
set output table.'.svg'
set datafile separator tab
set grid linecolor rgb '#dddddd'
set xlabel 'step'
set ylabel 'loss'
plot table every ::1 using 1:2 with lines linecolor rgb '#56b4e9' title 'training', \
     table every ::1 using 1:3 with linespoints linecolor rgb '#d55e00' linewidth 2 title 'validation'
