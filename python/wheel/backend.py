"""backend.py: what pip asks to make a wheel of cuda_nn: what `make cuda_nn` builds, and its list.

SUBMISSION and BACKEND say of what and for what, as to make. The wheel is for machines like this one.
"""

import base64
import hashlib
import os
import subprocess
import sysconfig
import zipfile

NAME = "cuda_nn-1.0"
TAG = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
INFO = NAME + ".dist-info/"
TEXTS = {
    INFO + "METADATA": "Metadata-Version: 2.1\nName: cuda_nn\nVersion: 1.0\nRequires-Dist: numpy\n"
    "Summary: The course's kernels, as a student wrote them, called from Python\n",
    INFO + "WHEEL": f"Wheel-Version: 1.0\nGenerator: cuda_nn\nRoot-Is-Purelib: false\nTag: {TAG}\n",
}


def files():
    """Name in the wheel and content of each file."""
    course = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    build = os.environ.get("COURSE_BUILD", "build")
    subprocess.run(["make", "BUILD=" + build, "cuda_nn"], cwd=course, check=True)
    made = os.path.join(course, build, "cuda_nn")
    for name in sorted(os.listdir(made)):
        with open(os.path.join(made, name), "rb") as file:
            yield "cuda_nn/" + name, file.read()


def line_of(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    wheel = f"{NAME}-{TAG}.whl"
    lines = ""
    path = os.path.join(wheel_directory, wheel)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as to:
        for name, content in [*files(), *((n, t.encode()) for n, t in TEXTS.items())]:
            to.writestr(name, content)
            lines += line_of(name, content)
        to.writestr(INFO + "RECORD", f"{lines}{INFO}RECORD,,\n")
    return wheel
