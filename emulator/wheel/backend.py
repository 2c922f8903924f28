"""backend.py: what pip asks to make a wheel of softgpu: what `make install` installs, and its list.

It needs make, a C compiler, and nvcc or clang; nothing is downloaded. The wheel is for machines
like this one. pip puts what lies in NAME.data/data where the environment is: bin/cucc, lib/softgpu.
"""

import base64
import hashlib
import os
import subprocess
import sysconfig
import tempfile
import zipfile

NAME = "softgpu-1.0"
TAG = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
TEXTS = {
    "METADATA": "Metadata-Version: 2.1\nName: softgpu\nVersion: 1.0\n"
    "Summary: A CUDA device in software, which names mistakes with their line\n",
    "WHEEL": f"Wheel-Version: 1.0\nGenerator: softgpu\nRoot-Is-Purelib: false\nTag: {TAG}\n",
}


def install(prefix):
    course = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    jobs = f"-j{os.cpu_count()}"
    subprocess.run(
        ["make", jobs, "-f", "emulator/emulator.mk", "install", "PREFIX=" + prefix],
        cwd=course,
        check=True,
    )


def files_below(folder):
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            yield path, os.path.relpath(path, folder)


def line_of(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    wheel = f"{NAME}-{TAG}.whl"
    record = f"{NAME}.dist-info/RECORD"
    lines = ""
    with tempfile.TemporaryDirectory() as prefix, zipfile.ZipFile(
        os.path.join(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED
    ) as to:
        install(prefix)
        for path, name in files_below(prefix):
            to.write(path, f"{NAME}.data/data/{name}")
            with open(path, "rb") as file:
                lines += line_of(f"{NAME}.data/data/{name}", file.read())
        for name, text in TEXTS.items():
            to.writestr(f"{NAME}.dist-info/{name}", text)
            lines += line_of(f"{NAME}.dist-info/{name}", text.encode())
        to.writestr(record, f"{lines}{record},,\n")
    return wheel
