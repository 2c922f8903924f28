# resnet18.gp: draws what resnet18.sh wrote, into FOLDER/resnet18_*.svg. It only draws.
#   gnuplot -e "folder='results'" bench/resnet18.gp
table = folder.'/resnet18.tsv'
set terminal svg size 900,600 font 'sans,12' background '#ffffff' noenhanced
picture(name) = '| sed -zE -f bench/svg.sed >"'.folder.'/resnet18_'.name.'.svg"'
set datafile separator tab
set datafile commentschars '#'
set grid linecolor rgb '#dddddd'
set key below left vertical maxrows 5 Left reverse samplen 4 font ',11'
set style data linespoints

# One line an implementation and precision; only what was timed, not what was scaled. Throughput is that
# of images on the device already, where there is such a time.
names = system("awk -F'\t' '/^#/ || $1 == \"implementation\" {next} !seen[$1 \" \" $2]++ {printf \"%s_%s \", $1, $2}' ".table)
ours = system("awk -F'\t' '/^#/ || $1 == \"implementation\" || $1 == \"cpu\" || $14 == \"\" {next} !seen[$1 \" \" $2]++ {printf \"%s_%s \", $1, $2}' ".table)
on_gpu = system("echo '".names."' | tr ' ' '\\n' | grep -v 'cpu_'")
rows(name, column) = "< awk -F'\t' '$4 == $5 && $1 \"_\" $2 == \"".name."\" {v = ".column."; if (v != \"\" && v > 0) print $4 \"\t\" v}' ".table
label(name) = system("echo ".name." | tr _ ' '")
# Colours that most eyes tell apart, as in matmul.gp: a precision has one in all that is fast, and so has each
# slower fp32. PyTorch is dashed, and dotted where it is eager. A shape is the implementation's.
palette_ = "#d55e00 #0072b2 #009e73 #cc79a7 #e69f00 #56b4e9 #666666"
colour(n) = n eq 'cpu_fp32' || n eq 'torch_cpu_fp32' ? '#666666' : \
    n eq 'transfer_fp32' ? '#d55e00' : n eq 'conv_bn_fp32' ? '#e69f00' : n eq 'resident_fp32' ? '#56b4e9' : \
    strstrt(n, 'fp16') ? '#cc79a7' : strstrt(n, 'tf32') ? '#009e73' : '#0072b2'
dash(n) = strstrt(n, 'torch_eager') ? 3 : strstrt(n, 'torch') ? 2 : 1
shape(n) = strstrt(n, 'torch_eager') ? 4 : strstrt(n, 'torch') ? 6 : strstrt(n, 'optimized') ? 7 : \
    strstrt(n, 'resident') ? 5 : strstrt(n, 'conv_bn') ? 9 : strstrt(n, 'transfer') ? 11 : 13
look = "linecolor rgb colour(n) dashtype dash(n) pointtype shape(n) pointsize 0.6 linewidth 1.5"
device = system("sed -n 's/^# device \\([^;]*\\);.*/\\1/p' ".table)
size = system("awk -F'\t' '!/^#/ && $4 == $5 {print $3; exit}' ".table)
set logscale xy
set xtics (1, 2, 4, 8, 16, 32, 64, 128, 256)
set xlabel 'batch'
of = ' of ResNet-18, '.size.' x '.size.', on '.device

set output picture('throughput')
set title 'Throughput'.of
set ylabel 'images a second'
plot for [n in names] rows(n, "($11 != \"\" ? $11 : $9)") using 1:2 @look title label(n)

set output picture('latency')
set title 'Latency'.of
set ylabel 'milliseconds, from host to host'
plot for [n in names] rows(n, "$6") using 1:2 @look title label(n)

set output picture('speedup')
set title 'Times one thread of the CPU,'.of[4:]
set ylabel 'speedup, from host to host'
plot for [n in ours] rows(n, "$14") using 1:2 @look title label(n), 1 with lines linecolor 'black' title 'the CPU'

set output picture('memory')
set title 'Device memory'.of
set ylabel 'MiB at most, as allocated'
plot for [n in on_gpu] rows(n, "$17 / 1048576") using 1:2 @look title label(n)

text(name) = system("sed -n 's/^# roofline:.* ".name."=\\([0-9.e+-]*\\).*/\\1/p' ".table)
fact(name) = text(name) eq "" ? 0.0 : real(text(name))
flops = fact("fp32_gflop_per_second"); copy = fact("copy_gb_per_second")
work = fact("gflop_per_image"); moved = fact("gb_per_image"); parameters = fact("gb_of_parameters")
intensity(batch) = work * batch / (parameters + moved * batch)
# Of its two ends and its corner.
below(from, bandwidth, roof, to) = sprintf("< printf '%.17g\t%.17g\n%.17g\t%.17g\n%.17g\t%.17g\n'", from, from * bandwidth, roof / bandwidth, roof, to, roof)
# The roofs of each precision's tensor cores stand beside the layers, in TFLOP/s.
layers = folder.'/resnet18_layers.tsv'
there = system("test -s ".layers." && echo 1 || echo 0") + 0
roof_of(name) = real(system("sed -n 's/^# roofs:.* ".name."=\\([0-9.e+-]*\\).*/\\1/p' ".layers))
bytes_of(n) = strstrt(n, 'fp16') ? 0.5 : 1.0
if (flops > 0) {
    set output picture('roofline')
    set title 'Roofline'.of
    set xlabel 'FLOP a byte, were each tensor moved once'
    set ylabel 'GFLOP/s'
    set xtics (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)
    left = flops / copy; right = intensity(1024) * 4
    set xrange [left : right]
    if (there) { set yrange [* : 1500 * roof_of("fp16")] }
    plot for [n in on_gpu] rows(n, "($11 != \"\" ? $11 : $9)") using (intensity($1) / bytes_of(n)):(work * $2) @look title label(n), \
         below(left, copy, flops, right) with lines linewidth 2 linecolor rgb '#000000' title 'roof: fp32 cores', \
         for [p in there ? "fp32 tf32 fp16" : ""] below(left, copy, 1000 * roof_of(p), right) with lines linewidth 3 linecolor rgb colour(p) title 'roof: '.p.', mma'
    set yrange [*:*]
}

# Each layer of 507 below the roofs of its precision.
if (there) {
    bandwidth = real(system("sed -n 's/^# roofs:.*, \\([0-9.e+-]*\\) TB.*/\\1/p' ".layers))
    of_layers(precision, batch) = "< awk -F'\t' '$1 == \"".precision."\" && $2 == ".batch." && $15 == 1 {print $11 \"\t\" $10}' ".layers
    set output picture('layers')
    set title 'Layers of 507,'.of[4:]
    set xlabel 'FLOP a byte, were each tensor moved once'
    set ylabel 'TFLOP/s'
    set xtics autofreq
    set xrange [1 : 2000]
    set yrange [0.1 : 1200]
    plot for [p in "fp32 tf32 fp16"] for [b in "1 64"] of_layers(p, b) using 1:2 with points linecolor rgb colour(p) pointtype (b eq '1' ? 6 : 7) pointsize 0.8 title 'optimized '.p.', batch '.b, \
         for [p in "fp32 tf32 fp16"] below(1, bandwidth, roof_of(p), 2000) with lines linecolor rgb colour(p) linewidth 3 title 'roof: '.p.', mma'
    set yrange [*:*]
}

unset logscale
set title 'Where the time of a batch goes,'.of[4:]
set xlabel ''
set ylabel 'share of the time, %'
set xrange [*:*]
set yrange [0:100]
set style data histograms
set style histogram rowstacked
set style fill solid 0.9 noborder
set boxwidth 0.8
set xtics rotate by -40
kinds = "convolution batchnorm relu_and_add pooling linear copies other"
# Of the smallest and the largest batch.
shares = "< awk -F'\t' 'NR == FNR {if (!/^#/ && $4 + 0 > most) most = $4 + 0; next} $4 != 1 && $4 != most {next} /^#/ || $1 == \"implementation\" || $19 == \"\" {next} {sum = 0; for (i = 19; i <= 25; i++) sum += $i; printf \"%s %s batch %s\", $1, $2, $4; for (i = 19; i <= 25; i++) printf \"\t%.2f\", 100 * $i / sum; print \"\"}' ".table." ".table
if (system("awk -F'\t' '!/^#/ && $1 != \"implementation\" && $19 != \"\"' ".table." | wc -l") > 0) {
    set output picture('kinds')
    plot for [i = 2:8] shares using i:xtic(1) linecolor rgb word(palette_, i - 1) title label(word(kinds, i - 1))
}
set output # waits for the last
