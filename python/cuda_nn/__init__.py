"""cuda_nn: what SUBMISSION's exercises in Python make of its kernels. `make cuda_nn` puts them and the
compiled kernels beside this file."""
import os

os.environ["COURSE_LIBRARY"] = os.path.join(os.path.dirname(__file__), "libcuda_nn.so")

from .call_from_python import DeviceArray, matmul
from .compiler import CompileError, compile
from .neural_network import NeuralNetworkGPU
