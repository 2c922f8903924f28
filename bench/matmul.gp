# matmul.gp: draws what bench_matmul wrote, FOLDER/matmul.tsv, into FOLDER/matmul.svg: speed over
# size, on the CPU and on the GPU, and all of that below its roofs.
#   gnuplot -e "folder='results'" bench/matmul.gp
table = folder.'/matmul.tsv'
set datafile separator tab
set datafile commentschars '#'
set style data linespoints
set grid linecolor rgb '#dddddd'
set logscale xy

# Rungs as RUNG|ON|PRECISION, the fastest at its largest size first; only what was right. A blank is _.
condition(panel) = panel eq 'cpu' ? '$3 != "GPU"' : panel eq 'cores' ? '$3 == "GPU" && $4 == "fp32"' : \
    panel eq 'tensor' ? '$3 == "GPU" && $4 != "fp32"' : '$3 == "GPU"'
rungs(panel) = system("awk -F'\t' '$1 + 0 && $6 != \"\" && ".condition(panel)." {speed[$2 \"|\" $3 \"|\" $4] = $6} END {for (r in speed) print speed[r] \"\t\" r}' ".table." | sort -rn | cut -f 2 | tr ' \\n' '_ '")
field(rung, i) = system("echo '".rung."' | tr _ ' ' | cut -d '|' -f ".i)
rows(rung) = "< awk -F'\t' '$1 + 0 && $6 != \"\" && $2 == \"".field(rung, 1)."\" && $3 == \"".field(rung, 2)."\" && $4 == \"".field(rung, 3)."\"' ".table
fact(name) = system("sed -n 's/^# roofs:.*[ ,]".name."=\\([0-9.e+-]*\\).*/\\1/p' ".table)
roof_of(name) = fact(name) eq '' ? NaN : real(fact(name))

# Colours that most eyes tell apart; libraries are black, what runs on all cores is dashed.
palette_ = "#d55e00 #0072b2 #009e73 #cc79a7 #e69f00 #56b4e9 #666666"
is_library(rung) = strstrt(rung, 'cuBLAS') == 1 || strstrt(rung, 'OpenBLAS') == 1
colour(rung, i) = is_library(rung) ? '#000000' : word(palette_, 1 + i % 7)
by_precision(rung) = strstrt(rung, '|bf16') ? '#d55e00' : strstrt(rung, '|fp16') ? '#cc79a7' : \
    strstrt(rung, '|tf32') ? '#009e73' : '#0072b2'
dash(rung) = strstrt(rung, '|all') || strstrt(rung, '|tf32') || strstrt(rung, '|fp16') ? 2 : 1
peer_dash(rung) = is_library(rung) ? 2 : 1
label(rung, panel) = field(rung, 1).(panel eq 'cpu' ? ', '.field(rung, 2) : panel eq 'cores' ? '' : ', '.field(rung, 3))

panels = rungs('gpu') eq '' ? "cpu" : "cpu cores tensor"
title_of(panel) = panel eq 'cpu' ? 'CPU, fp32' : panel eq 'cores' ? 'GPU, fp32' : 'GPU, tensor cores'
gpu = words(panels) > 1
set terminal svg size 1100, gpu ? 1200 : 600 font 'sans,12' background '#ffffff' noenhanced
set output '| sed -zE -f bench/svg.sed >"'.folder.'/matmul.svg"'
set multiplot layout gpu ? 2 : 1, 2 title 'Matrix product, n x n x n'
set xlabel 'n' offset 0, 0.5
set ylabel 'GFLOP/s'
set xtics (128, 256, 512, 1024, 2048, 4096, 8192)
set key below left vertical maxrows 6 Left reverse samplen 2 font ',11'
do for [panel in panels] {
    list = rungs(panel)
    set title title_of(panel)
    plot for [i = 1:words(list)] rows(word(list, i)) using 1:6 linecolor rgb colour(word(list, i), i) dashtype dash(word(list, i)) pointtype 3 + i pointsize 0.6 linewidth 1.5 title label(word(list, i), panel)
}

# Each matrix moved once is 2 n^3 operations for 12 n^2 bytes, or 8 n^2 where a and b have 16 bits.
panel = gpu ? 'gpu' : 'cpu'
list = rungs(panel)
intensity(n, rung) = n / (strstrt(rung, '|bf16') || strstrt(rung, '|fp16') ? 4.0 : 6.0)
copy = roof_of('copy')
# Of its corner and both ends.
below(roof) = sprintf("< printf '%.17g\t%.17g\n%.17g\t%.17g\n%.17g\t%.17g\n'", 10, 10 * copy, roof / copy, roof, 3000, roof)
set title gpu ? 'GPU, and the roof of each precision (cuBLAS is dashed)' : 'CPU, and its roofs'
set xlabel 'operations a byte, were each matrix moved once' offset 0, 1
set xtics autofreq
set xrange [10:3000]
set key maxrows 2
set samples 2
if (gpu) {
    set yrange [*:2 * roof_of('GPU_bf16')]
    plot for [i = 1:words(list)] rows(word(list, i)) using (intensity($1, word(list, i))):6 linecolor rgb by_precision(word(list, i)) dashtype peer_dash(word(list, i)) pointtype 3 + i pointsize 0.6 notitle, \
        below(roof_of('GPU_fp32')) with lines linewidth 3 linecolor rgb '#0072b2' title 'fp32', \
        below(roof_of('GPU_tf32')) with lines linewidth 3 linecolor rgb '#009e73' title 'TF32', \
        below(roof_of('GPU_bf16')) with lines linewidth 3 linecolor rgb '#d55e00' title 'bf16', \
        NaN with lines linewidth 3 linecolor rgb '#cc79a7' title 'fp16'
} else {
    plot for [i = 1:words(list)] rows(word(list, i)) using (intensity($1, word(list, i))):6 linecolor rgb colour(word(list, i), i) dashtype dash(word(list, i)) pointtype 3 + i pointsize 0.6 notitle, \
        roof_of('1_fp32') with lines linewidth 3 linecolor rgb '#666666' title 'roof of a core', \
        roof_of('all_fp32') with lines linewidth 3 dashtype 2 linecolor rgb '#666666' title 'roof of all cores'
}
unset multiplot
set output # waits for the last
