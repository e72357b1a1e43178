#!/usr/bin/env python3
"""Writes import_models.h: small models in ONNX's text form, as the bytes that the onnx package makes of them.

Example: python3 tests/unit/make_import_models.py > tests/unit/import_models.h
"""
import onnx.parser

MODELS = {
    # A node list that stands backwards.
    "backwards": """
<ir_version: 8, opset_import: ["" : 17]>
g (float[N,3] x) => (float[N,3] y) { y = Relu(b) b = Neg(a) a = Abs(x) }
""",
    # Both branches of an If see an input, an inner value and an initializer of the graph around them; one has an If inside.
    "captures": """
<ir_version: 8, opset_import: ["" : 17]>
g (bool c, float[2] x) => (float[2] y) <float[2] w = {1, 2}> {
  t = Neg(x)
  y = If (c) <
    then_branch = inner_then () => (float[2] r) { s = Add(t, w) r = Add(s, x) },
    else_branch = inner_else () => (float[2] r) {
      r = If (c) <
        then_branch = deep_then () => (float[2] q) { q = Sub(x, t) },
        else_branch = deep_else () => (float[2] q) { q = Sub(t, w) }
      >
    }
  >
}
""",
    # A call with an attribute, one with the default, and a function inside the function.
    "functions": """
<ir_version: 8, opset_import: ["" : 17, "my" : 1]>
g (float[2,3] x) => (float[3,2] y, float[2,3] z) { p = my.Outer <axis = 1> (x) y = Transpose(p) z = my.Outer(x) }
<domain: "my", opset_import: ["" : 13, "my" : 1]>
Outer <axis: int = 0> (a) => (b) { m = Neg(a) b = my.Inner <axis: int = @axis> (m) }
<domain: "my", opset_import: ["" : 13]>
Inner <axis> (a) => (b) { b = Softmax <axis: int = @axis> (a) }
""",
    # The second input of the function is left out, so Dropout has no ratio.
    "absent": """
<ir_version: 8, opset_import: ["" : 17, "my" : 1]>
g (float[2] x) => (float[2] y) { y = my.F(x) }
<domain: "my", opset_import: ["" : 13]>
F (a, low) => (b) { b = Dropout(a, low) }
""",
    "recursive": """
<ir_version: 8, opset_import: ["" : 17, "my" : 1]>
g (float[2] x) => (float[2] y) { y = my.A(x) }
<domain: "my", opset_import: ["my" : 1]>
A (a) => (b) { b = my.B(a) }
<domain: "my", opset_import: ["my" : 1]>
B (a) => (b) { b = my.A(a) }
""",
    # Initializers that are inputs: defaults from IR version 4 on.
    "defaults": """
<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }
""",
    "ir3": """
<ir_version: 3, opset_import: ["" : 8]>
g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }
""",
    "ir3_not_input": """
<ir_version: 3, opset_import: ["" : 8]>
g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }
""",
    "default_of_wrong_size": """
<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x, float[3] w) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }
""",
    "constants": """
<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y, int64[3] i) {
  w = Constant <value = float[2] {1, 2}> ()
  i = Constant <value_ints = [4, 5, 6]> ()
  y = Add(x, w)
}
""",
    "described": """
<ir_version: 9, opset_import: ["" : 17, "com.microsoft" : 1], producer_name: "maker", producer_version: "2.1",
 domain: "org.example", model_version: 7, doc_string: "what it does", metadata_props: ["author" : "someone"]>
the_graph (float[N,3,M] x, int64 k) => (float y) <float[4] unused = {1, 2, 3, 4}> { t = Neg(x) y = Neg(t) }
""",
    "sequence_input": """
<ir_version: 8, opset_import: ["" : 17]>
g (seq(float[N]) s) => (seq(float[N]) y) { y = Identity(s) }
""",
}


def main():
    print("/* Written by make_import_models.py. */\n#ifndef IMPORT_MODELS_H\n#define IMPORT_MODELS_H\n")
    for name, text in MODELS.items():
        data = onnx.parser.parse_model(text).SerializeToString()
        print(f"static const unsigned char {name}_model[] = {{")
        for i in range(0, len(data), 20):
            print("    " + " ".join(f"{byte}," for byte in data[i : i + 20]))
        print("};\n")
    print("#endif")


if __name__ == "__main__":
    main()
