# study.gp: draws FOLDER/study.tsv as FOLDER/cuda_benchmark_results.png. It only draws.
#   gnuplot -e "folder='results'" programs/study/study.gp
table = folder.'/study.tsv'
set terminal pngcairo size 1000,650 font 'sans,11' background '#ffffff' noenhanced
set output folder.'/cuda_benchmark_results.png'
set datafile separator tab
set logscale xy
set grid linecolor rgb '#dddddd'
set key below left vertical maxrows 6 Left reverse samplen 3
set xlabel 'frames'
timed = int(system("grep -c -P '\\tdevice\\t' ".table." || true")) > 0
set title system("sed -n 's/^# device //p' ".table)
set ylabel timed ? 'milliseconds a call, median and 95 % interval' : 'bytes moved, counted without caches'

# A line each: implementation:measure.
names = system("awk -F'\t' '/^#/ {next} $3 == \"call\" && ($1 == \"layers\" || $1 == \"fused\" || $1 == \"torch_eager\") || $3 == \"device\" || $3 == \"bytes\" {n = $1 \":\" $3; if (!seen[n]++) printf \"%s \", n}' ".table)
rows(name) = "< awk -F'\t' '$1 \":\" $3 == \"".name."\" {print $2 \"\t\" $5 \"\t\" $6 \"\t\" $7}' ".table
dash(name) = strstrt(name, ':call') ? 2 : 1
plot for [i = 1:words(names)] rows(word(names, i)) using 1:2:3:4 with yerrorlines linecolor i dashtype dash(word(names, i)) pointsize 0.6 title word(names, i)
