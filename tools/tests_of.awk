#!/usr/bin/awk -f
# tests_of.awk: the timings and counts of a results.json as TSV: exercise, kind (speed, traffic),
# function, metric, bound, wanted, number, verdict; of a timing also its seconds, the baseline's
# seconds, and the exercise's file. It relies on the grader's way to write: a field a line.
BEGIN { OFS = "\t" }

function value()
{
    sub(/^[^:]*: /, "")
    sub(/,$/, "")
    gsub(/^"|"$/, "")
    return $0
}

/^   "id": /                          { id = value() }
/^   "file": /                        { file = value() }
/^   "speed": /                       { kind = "" } # the weakest, which stands in speeds too
/^   "speeds": \[$/                    { kind = "speed"; bound = "at least" }
/^   "traffic": \[$/                    { kind = "traffic" }
/^     "function": /                  { called = value() }
/^     "metric": /                    { metric = value() }
/^     "bound": /                     { bound = value() }
/^     "(wanted|threshold)": /        { wanted = value() }
/^     "(counted|ratio)": /           { number = value() }
/^     "seconds": /                   { seconds = value() }
/^     "baseline_seconds": /          { baseline = value() }
/^     "verdict": / && kind != ""     { verdict = value() }
/^    }/ && kind == "speed" {
    print id, kind, called, metric, bound, wanted, number, verdict, seconds, baseline, file
}
/^    }/ && kind == "traffic" { print id, kind, called, metric, bound, wanted, number, verdict }
/^   ]/ { kind = "" }
