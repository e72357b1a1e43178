#!/usr/bin/env python3
"""Write schema_table.c: the operator schemas of the installed onnx package, the EXTRA ones below, and those of
extra_schemas.json, which make_extra_schemas.py writes.

usage: make_schemas.py [OUT]        OUT: default schema_table.c beside this script; needs the onnx version named here
"""
import json
import os
import re
import struct
import sys

import onnx
from onnx import AttributeProto, TensorProto, defs, helper

ONNX_VERSION = "1.23.2"
ANY = 0xFFFF  # INGOT_SCHEMA_ANY
DEPRECATED, FUNCTION, EXPERIMENTAL, EXTRA = 1, 2, 4, 8
SINGLE, OPTIONAL, VARIADIC = 0, 1, 2
MAX_COLUMNS = 118

ELEMENTS = {
    "float": TensorProto.FLOAT,
    **{name.lower(): number for name, number in TensorProto.DataType.items() if name not in ("UNDEFINED", "FLOAT")},
}
FORMS = [  # ingot_type_form, in order
    r"tensor\((\w+)\)",
    r"seq\(tensor\((\w+)\)\)",
    r"optional\(tensor\((\w+)\)\)",
    r"optional\(seq\(tensor\((\w+)\)\)\)",
    r"map\(int64, (\w+)\)",
    r"map\(string, (\w+)\)",
    r"seq\(map\(int64, (\w+)\)\)",
    r"seq\(map\(string, (\w+)\)\)",
]

# Where the standard's own text has a slip: (operator, version, attribute) and the default that is meant.
CORRECTIONS = {("GRU", 1, "direction"): "forward"}  # says "foward"

FLOATS = ["tensor(float16)", "tensor(float)", "tensor(double)"]
CONV_ATTRIBUTES = [
    ("auto_pad", AttributeProto.STRING, "NOTSET"),
    ("dilations", AttributeProto.INTS, None),
    ("group", AttributeProto.INT, 1),
    ("kernel_shape", AttributeProto.INTS, None),
    ("pads", AttributeProto.INTS, None),
    ("strides", AttributeProto.INTS, None),
]


def extra(name, inputs, attributes, domain="ai.onnx", removed=None, types=FLOATS):
    """An operator outside the standard: one type throughout, one output, optional inputs end in '?'. An attribute is
    (name, type, default or None); one without that is required where its name ends in '!'. removed: the opset that
    took it away, where no later version exists."""
    return {"name": name, "inputs": inputs, "attributes": attributes, "domain": domain, "removed": removed,
            "types": types}


# Experimental operators of ai.onnx 1 to 9, removed by ONNX 1.5 (opset 10): ONNX 1.4, docs/Operators.md.
# com.microsoft: ONNX Runtime, docs/ContribOperators.md. ai.ingot: Ingot's own, which rewrites make.
EXTRAS = [
    extra("Affine", ["X"], [("alpha", AttributeProto.FLOAT, 1.0), ("beta", AttributeProto.FLOAT, 0.0)], removed=10),
    extra("Crop", ["input"], [("border", AttributeProto.INTS, None), ("scale", AttributeProto.INTS, None)], removed=10),
    extra("ImageScaler", ["input"], [("bias", AttributeProto.FLOATS, None), ("scale", AttributeProto.FLOAT, 1.0)],
          removed=10),
    extra("ParametricSoftplus", ["X"], [("alpha", AttributeProto.FLOAT, None), ("beta", AttributeProto.FLOAT, None)],
          removed=10),
    extra("ScaledTanh", ["input"], [("alpha", AttributeProto.FLOAT, None), ("beta", AttributeProto.FLOAT, None)],
          removed=10),
    extra("ThresholdedRelu", ["X"], [("alpha", AttributeProto.FLOAT, 1.0)]),
    extra("WidenFloat", ["X"], [], domain="ai.ingot", types=FLOATS + ["tensor(bfloat16)"]),
    extra("FusedConv", ["X", "W", "B?", "Z?"],
          CONV_ATTRIBUTES + [("activation", AttributeProto.STRING, None),
                             ("activation_params", AttributeProto.FLOATS, None)], domain="com.microsoft"),
    extra("Tokenizer", ["X"],
          [("mark!", AttributeProto.INT, None), ("mincharnum!", AttributeProto.INT, None),
           ("pad_value!", AttributeProto.STRING, None), ("separators", AttributeProto.STRINGS, None),
           ("tokenexp", AttributeProto.STRING, None)], domain="com.microsoft", types=["tensor(string)"]),
]

# Operators of ai.ingot with the inputs, outputs and attributes of one of the standard, of that version.
OWN_FORMS = {("LSTM", 14): "ByteStateLSTM"}


class Rows:
    """Rows of a table; a list that is there already, whole and in order, is used again."""

    def __init__(self):
        self.rows = []

    def place(self, rows):
        for start in range(len(self.rows) - len(rows) + 1):
            if self.rows[start:start + len(rows)] == rows:
                return start if rows else 0
        self.rows += rows
        return len(self.rows) - len(rows)


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def float_literal(value):
    """The shortest decimal that is this float again."""
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if struct.pack("f", float(text)) == struct.pack("f", value):
            break
    return (text if "." in text or "e" in text else text + ".0") + "f"


def constraint_row(name, types):
    masks = [0] * len(FORMS)
    for text in types:
        for form, pattern in enumerate(FORMS):
            match = re.fullmatch(pattern, text)
            if match:
                masks[form] |= 1 << ELEMENTS[match.group(1)]
                break
        else:
            raise SystemExit(f"make_schemas.py: {name}: the type {text} is of no ingot_type_form")
    while len(masks) > 1 and masks[-1] == 0:
        masks.pop()
    return f"{{{quote(name)}, {{{', '.join(hex(mask) if mask else '0' for mask in masks)}}}}}"


class Tables:
    def __init__(self):
        self.values, self.attributes, self.constraints = Rows(), Rows(), Rows()
        self.defaults = {"INT": Rows(), "FLOAT": Rows(), "STRING": Rows()}
        self.schemas = []

    def attribute_row(self, name, kind, required, default):
        first, count = 0, 0
        if default is not None:
            values = default if isinstance(default, list) else [default]
            base = AttributeProto.AttributeType.Name(kind).rstrip("S")
            spell = {"INT": lambda v: f"INT64_C({v})" if abs(v) > 0x7FFFFFFF else str(v), "FLOAT": float_literal,
                     "STRING": quote}[base]
            first, count = self.defaults[base].place([spell(value) for value in values]), len(values)
        return f"{{{quote(name)}, {kind}, {int(required)}, {int(default is not None)}, {count}, {first}}}"

    def add(self, domain, name, since, flags, counts, inputs, outputs, attributes, constraints):
        """inputs, outputs: (name, option, homogeneous, type); attributes: (name, type, required, default);
        constraints: {type variable: types}."""
        constraints = dict(constraints)
        for _, _, _, kind in inputs + outputs:
            constraints.setdefault(kind, [kind])
        index = {kind: i for i, kind in enumerate(constraints)}

        def value_rows(values):
            return [f"{{{quote(n)}, {option}, {int(same)}, {index[kind]}}}" for n, option, same, kind in values]

        parts = [self.values.place(value_rows(inputs)), self.values.place(value_rows(outputs)),
                 self.attributes.place([self.attribute_row(*a) for a in sorted(attributes, key=lambda a: a[0])]),
                 self.constraints.place([constraint_row(*c) for c in constraints.items()])]
        sizes = [len(inputs), len(outputs), len(attributes), len(constraints)]
        numbers = ", ".join(map(str, [since, flags, *counts, *parts, *sizes]))
        self.schemas.append(((domain, name, since), f"{{{quote(domain)}, {quote(name)}, {numbers}}}"))


def add_standard(tables, schema, own=None):
    """own: its name in ai.ingot."""
    def values(parameters):
        return [(p.name, int(p.option.value), p.is_homogeneous, p.type_str) for p in parameters]

    def default(attribute):
        proto = attribute.default_value
        if proto.type == AttributeProto.UNDEFINED:
            return None
        value = helper.get_attribute_value(proto)
        if proto.type in (AttributeProto.INTS, AttributeProto.FLOATS, AttributeProto.STRINGS):
            value = list(value)
        if proto.type == AttributeProto.STRING:
            value = value.decode()
        if proto.type == AttributeProto.STRINGS:
            value = [item.decode() for item in value]
        return CORRECTIONS.get((schema.name, schema.since_version, attribute.name), value)

    flags = DEPRECATED * schema.deprecated
    flags |= FUNCTION * (schema.has_function or schema.has_context_dependent_function)
    flags |= EXPERIMENTAL * (schema.support_level == defs.OpSchema.SupportType.EXPERIMENTAL)
    counts = [min(count, ANY) for count in
              (schema.min_input, schema.max_input, schema.min_output, schema.max_output)]
    attributes = [(a.name, int(a.type.value), a.required, default(a)) for a in schema.attributes.values()]
    constraints = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
    key = ("ai.ingot", own, 1, EXTRA) if own else (schema.domain or "ai.onnx", schema.name, schema.since_version, flags)
    tables.add(*key, counts, values(schema.inputs), values(schema.outputs), attributes, constraints)


def add_extra(tables, operator):
    inputs = [(n.rstrip("?"), OPTIONAL if n.endswith("?") else SINGLE, True, "T") for n in operator["inputs"]]
    required = sum(1 for i in inputs if i[1] == SINGLE)
    attributes = [(name.rstrip("!"), kind, name.endswith("!"), default)
                  for name, kind, default in operator["attributes"]]
    key = operator["domain"], operator["name"]
    tables.add(*key, 1, EXTRA, [required, len(inputs), 1, 1], inputs, [("Y", SINGLE, True, "T")], attributes,
               {"T": operator["types"]})
    if operator["removed"]:
        tables.add(*key, operator["removed"], EXTRA | DEPRECATED, [0, 0, 0, 0], [], [], [], {})


def add_onnxruntime(tables, operator):
    key = operator["domain"], operator["name"], operator["since"]
    lists = [[tuple(row) for row in operator[name]] for name in ("inputs", "outputs", "attributes")]
    if operator["domain"] == "com.microsoft.nchwc":  # where a rewrite keeps the size of blocks, which files do not tell
        lists[2].append(("ingot_block", AttributeProto.INT, False, None))
    tables.add(*key, EXTRA, operator["counts"], *lists, operator["constraints"])


def onnxruntime_operators():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "extra_schemas.json"), encoding="utf-8") as file:
        return json.load(file)["operators"]


def table(declaration, rows, packed=True):
    """A C array; packed: as many rows a line as fit."""
    lines, line = [], ""
    for row in rows:
        if line and (not packed or len(line) + len(row) + 2 > MAX_COLUMNS - 4):
            lines.append(line)
            line = ""
        line += (" " if line else "") + row + ","
    lines.append(line)
    return f"const {declaration} = {{\n" + "".join(f"    {text}\n" for text in lines) + "};\n"


def domain_rows():
    versions = {(domain or "ai.onnx"): bounds for domain, bounds in defs.C.schema_version_map().items()}
    versions.update({domain: (1, 1) for domain in ("ai.ingot", "com.microsoft", "com.microsoft.nchwc")})
    return [f"{{{quote(domain)}, {low}, {high}}}" for domain, (low, high) in sorted(versions.items())]


def generate():
    tables = Tables()
    key = lambda s: (s.domain or "ai.onnx", s.name, s.since_version)
    for schema in sorted(defs.get_all_schemas_with_history(), key=key):
        add_standard(tables, schema)
        if (schema.name, schema.since_version) in OWN_FORMS:
            add_standard(tables, schema, OWN_FORMS[schema.name, schema.since_version])
    for operator in EXTRAS:
        add_extra(tables, operator)
    for operator in onnxruntime_operators():
        add_onnxruntime(tables, operator)
    schemas, domains = [row for _, row in sorted(tables.schemas)], domain_rows()
    parts = [
        f"/* Generated by src/ops/make_schemas.py from onnx {ONNX_VERSION}: do not edit. To make it anew:\n"
        f" *     python3 src/ops/make_schemas.py\n */\n",
        '#include "ops/schema_table.h"\n',
        "/* clang-format off */\n",
        table("ingot_schema_domain ingot_schema_domains[]", domains, packed=False),
        f"const size_t ingot_schema_domain_count = {len(domains)};\n",
        table("ingot_schema ingot_schemas[]", schemas, packed=False),
        f"const size_t ingot_schema_count = {len(schemas)};\n",
        table("ingot_schema_value ingot_schema_values[]", tables.values.rows),
        table("ingot_schema_attribute ingot_schema_attributes[]", tables.attributes.rows),
        table("ingot_schema_constraint ingot_schema_constraints[]", tables.constraints.rows),
        table("int64_t ingot_schema_ints[]", tables.defaults["INT"].rows),
        table("float ingot_schema_floats[]", tables.defaults["FLOAT"].rows),
        table("char *const ingot_schema_strings[]", tables.defaults["STRING"].rows),
    ]
    return "\n".join(parts)


def main():
    if onnx.__version__ != ONNX_VERSION:
        sys.exit(f"make_schemas.py: needs onnx {ONNX_VERSION}, found {onnx.__version__}")
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                                             "schema_table.c")
    with open(out, "w", encoding="utf-8") as file:
        file.write(generate())


if __name__ == "__main__":
    main()
