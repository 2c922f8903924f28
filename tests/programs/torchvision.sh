#!/bin/sh
# torchvision.sh: does exercise 504 compute what torchvision's ResNet-18 computes? With weights
# that each of them made, through files that each of them wrote, for images of two sizes; and are a
# model and the file of its state dict the same?
#
#   torchvision.sh              the test
#   torchvision.sh --python     the python that has torchvision; fails where none has
set -eu
cd "$(dirname "$0")/../.."
build=${COURSE_BUILD:-build}

python_with_torchvision() {
    for python in ${PYTHON:-python3 /usr/bin/python3}; do
        if "$python" -c 'import torchvision' 2>/dev/null; then
            echo "$python"
            return
        fi
    done
    return 1
}

python=$(python_with_torchvision) || exit 1
if [ "${1:-}" = --python ]; then
    echo "$python"
    exit
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0

fail() {
    echo "torchvision: $*" >&2
    exit 1
}

passes() { # COMMAND...: which says what is wrong when it fails
    "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log"; fail "failed: $*"; }
    passed=$((passed + 1))
}

refuses() { # WORDS COMMAND...
    words=$1
    shift
    if "$@" >"$scratch/log" 2>&1; then fail "did not fail: $*"; fi
    grep -q "$words" "$scratch/log" || { cat "$scratch/log"; fail "does not say \"$words\": $*"; }
    passed=$((passed + 1))
}

answers="$scratch/answers_of_504"
# shellcheck disable=SC2046
${CC:-cc} -O3 -march=native -std=gnu11 -Icommon -Iphase1_cpu -Iphase5_full_network \
    tests/programs/torchvision_answers.c $("$build/grader" needs --submission solutions 504 | sed 's|^|solutions/|') \
    -L"$build" -lcourse -Wl,-rpath,"$(realpath "$build")" -lm -o "$answers"
weights() { "$python" tools/resnet18_weights.py "$@"; }

passes "$answers" generate "$scratch/ours" 7
passes weights "$scratch/theirs" --random 7
for made in ours theirs; do
    for images in '2 224' '5 75'; do
        # shellcheck disable=SC2086
        passes "$answers" answer "$scratch/$made" "$scratch/answers" $images
        passes weights "$scratch/$made" --check "$scratch/answers"
        sed "s/^/$made: /" "$scratch/log"
    done
done

# The answers of one network are not the other's.
refuses 'other logits' weights "$scratch/ours" --check "$scratch/answers"

# A state dict that torch saved.
passes "$python" -c "
import sys, torch, torchvision
sys.path.insert(0, 'tools')
import resnet18_weights as w
torch.save(w.random_model(7).state_dict(), '$scratch/state.pt')
torch.save({'fc.bias': torch.zeros(3)}, '$scratch/other.pt')"
passes weights "$scratch/again" --state "$scratch/state.pt"
passes cmp "$scratch/theirs" "$scratch/again"
refuses 'not the weights of a ResNet-18' weights "$scratch/none" --state "$scratch/other.pt"

# Damage is named.
cp "$scratch/theirs" "$scratch/damaged"
printf x | dd of="$scratch/damaged" bs=1 seek=40000000 conv=notrunc status=none
refuses 'damaged: the checksum of layer4' weights "$scratch/damaged" --check "$scratch/answers"
refuses 'cut short' sh -c "head -c 1000000 '$scratch/theirs' >'$scratch/short' &&
    '$python' tools/resnet18_weights.py '$scratch/short' --check '$scratch/answers'"
refuses 'No such file' weights "$scratch/nothing" --check "$scratch/answers"

echo "$passed passed, 0 failed"
