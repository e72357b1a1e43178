"""Code written for ONNX Runtime: only the import is another. usage: drop_in.py MODEL"""
import sys

import ingot.ort as onnxruntime
import numpy as np


def main(model: str) -> None:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    for argument in session.get_inputs():
        print(argument.name, argument.type, argument.shape)
    x = np.zeros((1, 3, 224, 224), np.float32)
    print(session.run(None, {session.get_inputs()[0].name: x})[0])


if __name__ == "__main__":
    main(sys.argv[1])
