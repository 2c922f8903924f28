# Dockerfile: a machine for the course, made of Debian's packages and nothing else: after it is built, no
# network is needed. The course stays outside of it:
#
#   docker build -t course - <Dockerfile
#   docker run --rm -it --user "$(id -u):$(id -g)" -v "$PWD:/course" course make grade
#
# The first line of packages is what tools/setup.sh would install; the second is for the person.
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends \
        bubblewrap check clang g++ gcc libc6-dev libffi-dev libjansson-dev libssl-dev make python3-numpy zlib1g-dev \
        ca-certificates clang-format clangd git gnuplot-nox less vim-tiny \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --shell /bin/bash student
USER student
WORKDIR /course
CMD ["bash"]
