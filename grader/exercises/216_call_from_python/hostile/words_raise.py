# HOSTILE: 1x1x1 | its words raise
# Raises an exception whose words raise another: the interpreter ends the call without a word.
class Silent(Exception):
    def __str__(self):
        raise Silent


class DeviceArray:
    def __init__(self, rows, cols):
        raise Silent


def matmul(a, b):
    raise Silent
