# matmul.gp: draws the table that matmul wrote.   gnuplot -e "table='...tsv'; picture='...svg'"
set terminal svg size 720,420 font 'sans,13' background '#ffffff'
set output picture
set title 'Matrix product in fp32, n x n x n'
set datafile separator tab
set datafile commentschars '#'
set xlabel 'n'
set ylabel 'GFLOP/s'
set logscale xy
set xtics (256, 512, 1024, 2048, 4096, 8192)
set grid
set key left top
rungs = system("awk -F'\\t' '!/^#/ && $1 != \"n\" && !seen[$2]++ {print $2}' ".table)
plot for [r in rungs] "< awk -F'\\t' '$2 == \"".r."\"' ".table using 1:4 with linespoints pointtype 7 linewidth 2 title r
