#!/bin/sh
# data.sh: put the four files of MNIST into data/mnist, and Tiny Shakespeare, a megabyte of plays, into
# data/tinyshakespeare (make data).
#
# A copy in $COURSE_DATA or in ../shared/data is taken before anything is downloaded. Downloads come
# from public mirrors, one after the other, and are resumed where they broke off. The checksums are
# those of the unpacked files, since copies are packed differently. No wrong file is left in place.
set -eu
cd "$(dirname "$0")/.."

target=data/mnist
mirrors="https://ossci-datasets.s3.amazonaws.com/mnist
         https://storage.googleapis.com/cvdf-datasets/mnist"
files="ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db train-images-idx3-ubyte
       65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5 train-labels-idx1-ubyte
       0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7 t10k-images-idx3-ubyte
       ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2 t10k-labels-idx1-ubyte"

say() {
    echo "data: $*"
}

# is_right PATH HASH: is PATH, gzipped, the file with this SHA-256?
is_right() {
    [ -f "$1" ] && [ "$(gzip -dc "$1" 2>/dev/null | sha256sum | cut -d ' ' -f 1)" = "$2" ]
}

# fetch URL PATH: download what is missing of PATH. Status 1: broken off; 2: the server said no.
fetch() {
    status=0
    if command -v curl >/dev/null; then
        curl -fsSL --connect-timeout 10 --speed-time 30 --speed-limit 1000 -C - -o "$2" "$1" \
            2>/dev/null || status=$?
        case $status in 0) ;; 22 | 33) return 2 ;; *) return 1 ;; esac
    else
        wget -q -c --timeout=30 --tries=1 -O "$2" "$1" 2>/dev/null || status=$?
        case $status in 0) ;; 8) return 2 ;; *) return 1 ;; esac
    fi
}

# copy NAME HASH: from a copy on this machine, gzipped or not.
copy() {
    for folder in "${COURSE_DATA:-}/mnist" "${COURSE_DATA:-}" ../shared/data/mnist; do
        if [ -f "$folder/$1.gz" ]; then
            cp "$folder/$1.gz" "$target/$1.copy"
        elif [ -f "$folder/$1" ]; then
            gzip -c "$folder/$1" >"$target/$1.copy"
        else
            continue
        fi
        if is_right "$target/$1.copy" "$2"; then
            mv -f "$target/$1.copy" "$target/$1.gz"
            say "$1 copied from $folder"
            return 0
        fi
        rm -f "$target/$1.copy"
        say "$1 in $folder is not that of MNIST"
    done
    return 1
}

# download NAME HASH: from the first mirror that has it. When the part of an earlier download does
# not fit what comes now, the second attempt starts at the beginning.
download() {
    part=$target/$1.part
    for mirror in $mirrors; do
        for attempt in 1 2; do
            status=0
            fetch "$mirror/$1.gz" "$part" || status=$?
            if is_right "$part" "$2"; then
                mv -f "$part" "$target/$1.gz"
                say "$1 downloaded from $mirror"
                return 0
            fi
            if [ "$status" = 1 ]; then break; fi # keep the part, for the next time
            if [ "$status$attempt" = 02 ]; then say "$1 from $mirror is not that of MNIST"; fi
            rm -f "$part"
        done
    done
    return 1
}

command -v curl >/dev/null || command -v wget >/dev/null || tools/setup.sh --need curl curl
mkdir -p "$target"
echo "$files" | while read -r hash name; do
    if is_right "$target/$name.gz" "$hash" || copy "$name" "$hash" || download "$name" "$hash"; then
        continue
    fi
    say "no mirror has MNIST for us; without it the course draws its own digits" \
        "(COURSE_DATA=FOLDER points at a copy)" >&2
    exit 1
done
say "MNIST is in $target"

# One file, as it is: a text needs no packing.
plays=data/tinyshakespeare/input.txt
hash=86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed
is_plays() {
    [ -f "$1" ] && [ "$(sha256sum <"$1" | cut -d ' ' -f 1)" = "$hash" ]
}
mkdir -p "${plays%/*}"
for copy in "$plays" "${COURSE_DATA:-}/tinyshakespeare/input.txt" "${COURSE_DATA:-}/input.txt" "../shared/$plays"; do
    is_plays "$plays" || ! is_plays "$copy" || cp "$copy" "$plays"
done
is_plays "$plays" || fetch https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt "$plays.part" || true
if [ -f "$plays.part" ] && is_plays "$plays.part"; then mv -f "$plays.part" "$plays"; fi
if is_plays "$plays"; then
    rm -f "$plays.part"
    say "Tiny Shakespeare is in $plays"
else
    rm -f "$plays.part"
    say "nobody has Tiny Shakespeare for us; make gpt TEXT=FILE learns any other text" >&2
    exit 1
fi
