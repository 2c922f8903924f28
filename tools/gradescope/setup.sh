#!/bin/sh
# setup.sh: run once by Gradescope, as root, when it makes the image: installs what the course needs
# and builds the grader, so that no submission waits for it.
set -eu
cd "${AUTOGRADER:-/autograder}/source"
command -v make >/dev/null || { apt-get -qq update && apt-get -qq -y install make; }
make all
# What Gradescope's students will be judged by is tried once, here.
[ ! -e hidden.ini ] || make grade SUBMISSION=solutions HIDDEN=hidden.ini
