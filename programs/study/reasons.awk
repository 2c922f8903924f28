# reasons.awk: why there was no speedup: the five reasons that were given for it, each compared with
# the numbers of study.tsv. A reason is confirmed or refuted by one comparison, which is printed
# with both of its numbers; where a number is not there, it is open.
BEGIN {
    FS = "\t"
}
/^# device / { sub(/^# device /, ""); device = $0; next }
/^# (copy|fp32|flop|traffic|weights) / { split($0, word, " "); of[word[2]] = word[3] }
/^#/ || $1 == "implementation" { next }
{ median[$1, $2, $3] = $5; low[$1, $2, $3] = $6; high[$1, $2, $3] = $7; if (!($1 in seen)) name[++names] = $1; seen[$1] = 1; if ($3 == "device" && $1 == "fused") batch[++batches] = $2 }

function has(i, b, m) { return (i, b, m) in median }
function ms(i, b, m) { return sprintf("%.4f ms [%.4f, %.4f]", median[i, b, m], low[i, b, m], high[i, b, m]) }
function say(reason, there, confirmed, number) {
    printf "%d. %s: %s. %s\n", ++reasons, reason, !there ? "open" : confirmed ? "confirmed" : "refuted", there ? number : "Not measured here."
}

END {
    print "What bounds the autoencoder, on " device ":"
    print ""
    if (batches == 0) {
        print "softgpu counts and has no times, so no reason is confirmed or refuted here. Counted, batch 64:"
        for (i = 1; i <= names; i++)
            printf "  %-20s %3d launches  %10d bytes\n", name[i], median[name[i], 64, "launches"], median[name[i], 64, "bytes"]
        exit
    }
    b = 512; most = 65536
    there = has("layers", b, "stream") && has("fused", b, "device")
    roof = there && of["fp32"] > 0
    needed = roof ? b * of["flop"] / of["fp32"] * 1e3 : 0
    say("The model is small", roof, median["layers", b, "stream"] > 10 * needed, \
        sprintf("At batch %d its arithmetic is %.4f ms at the device's %.1f TFLOP/s; layer by layer a call takes %s.", b, needed, of["fp32"] / 1e12, ms("layers", b, "stream")))

    torch = has("torch_graph", b, "device") && there
    say("PyTorch is highly optimized already", torch, high["torch_graph", b, "device"] < low["fused", b, "device"] * 1.2, \
        sprintf("At batch %d its graph takes %s, the fused kernel %s.", b, ms("torch_graph", b, "device"), ms("fused", b, "device")))

    large = has("fused", most, "device") && of["copy"] > 0
    share = large ? (most * of["traffic"] + of["weights"]) / of["copy"] * 1e3 / median["fused", most, "device"] : 0
    say("It is bound by memory", large, share > 0.5, \
        sprintf("At batch %d a copy of x, latent, y and the weights would take %.0f %% of the fused kernel's %s.", most, 100 * share, ms("fused", most, "device")))

    # By the host, less the same as nodes of a graph: launches. What the nodes take beyond one kernel is not.
    nodes = there && has("layers", b, "device")
    gained = median["layers", b, "stream"] - median["fused", b, "device"]
    launches = median["layers", b, "stream"] - median["layers", b, "device"]
    say("Launches cost more than is gained", nodes, launches > gained / 2, \
        sprintf("At batch %d the layers take %s launched, %s as nodes of one graph; the fused kernel %s on the device. Launches are %.0f %% of what it gains.", b, ms("layers", b, "stream"), ms("layers", b, "device"), ms("fused", b, "device"), gained ? 100 * launches / gained : 0))

    little = has("fused", 32, "device") && has("fused", most, "device")
    rate = little ? most / median["fused", most, "device"] / (32 / median["fused", 32, "device"]) : 0
    say("There is little parallelism", little, rate > 4, \
        sprintf("A frame of batch %d is %.1f times as fast as one of batch 32, whose call takes %s on the device.", most, rate, ms("fused", 32, "device")))

    print ""
    print "Milliseconds of a call, medians: launched and waited for by the host, and on the device alone."
    split("torch_eager:call torch_compile:call torch_graph:replay layers:call layers:replay fused:call torch_graph:device layers:device fused:device", column, " ")
    printf "  %8s", "frames"
    for (c = 1; c in column; c++) printf " %18s", column[c]
    print ""
    for (k = 1; k <= batches; k++) {
        printf "  %8d", batch[k]
        for (c = 1; c in column; c++) {
            split(column[c], part, ":")
            printf " %18s", has(part[1], batch[k], part[2]) ? sprintf("%.4f", median[part[1], batch[k], part[2]]) : "-"
        }
        print ""
    }
    if (little)
        printf "\nFrom batch 32 to %d the fused kernel's time on the device grows %.1f times.\n", most, median["fused", most, "device"] / median["fused", 32, "device"]

    print ""
    print "What each option is worth: milliseconds on the device without it, and how many times those with all that is."
    row("frames", "")
    row("all options", "fused")
    for (i = 1; i <= names; i++) if (name[i] ~ /^fused-/) row("without " substr(name[i], 7), name[i])
}

function row(words, i,   k) {
    printf "  %-20s", words
    for (k = 1; k <= batches; k++)
        printf " %15s", words ~ /^without/ ? sprintf("%.4f %5.2fx", median[i, batch[k], "device"], median[i, batch[k], "device"] / median["fused", batch[k], "device"]) : \
            i == "" ? batch[k] : sprintf("%.4f       ", median[i, batch[k], "device"])
    print ""
}
