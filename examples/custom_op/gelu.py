"""The operator of gelu.c as a Python function: the way to try an idea. Slower, for each call takes Python's lock.

    python examples/custom_op/gelu.py
"""
import math
from typing import Any

import numpy as np

import ingot


@ingot.op("com.example.python::Gelu", shape=lambda x: x)
def gelu(x: Any, *, approximate: int = 0) -> Any:
    """x * Phi(x), or its approximation by tanh."""
    if approximate:
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))).astype(x.dtype)


if __name__ == "__main__":
    print(gelu(np.linspace(-2, 2, 5, dtype=np.float32)))
