"""A case in the making: one node, its inputs, its attributes, and how near its outputs must come to what is expected."""
import dataclasses
import functools
import random

import ml_dtypes
import numpy as np
import onnx
import onnx.defs
from onnx import TensorProto, helper, numpy_helper

from engine import DTYPES, ELEMENTS

FLOATS = {TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16}
SMALL_FLOATS = {TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E4M3FNUZ, TensorProto.FLOAT8E5M2,
                TensorProto.FLOAT8E5M2FNUZ, TensorProto.FLOAT4E2M1, TensorProto.FLOAT8E8M0}
SIGNED = {TensorProto.INT8, TensorProto.INT16, TensorProto.INT32, TensorProto.INT64, TensorProto.INT4, TensorProto.INT2}
UNSIGNED = {TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64, TensorProto.UINT4,
            TensorProto.UINT2}
INTEGERS = SIGNED | UNSIGNED
COMPLEX = {TensorProto.COMPLEX64, TensorProto.COMPLEX128}
WORDS = ["", "a", "b", "abc", "Monday", "tuesday", "éà", "日本", "x y", "0", "-1.5", "NaN", "ß", "\U0001f600", "A\tb"]
SPAN = {TensorProto.INT4: (-8, 7), TensorProto.UINT4: (0, 15), TensorProto.INT2: (-2, 1), TensorProto.UINT2: (0, 3)}


def span(element):
    """Least and greatest value of an integer type."""
    if element in SPAN:
        return SPAN[element]
    limits = np.iinfo(DTYPES[element])
    return int(limits.min), int(limits.max)


@functools.cache
def schema_of(domain, name, version):
    """The schema that holds at this version of the domain; None for operators that onnx does not know."""
    try:
        return onnx.defs.get_schema(name, version, "" if domain == "ai.onnx" else domain)
    except onnx.defs.SchemaError:
        return None


def elements_of(type_strings):
    """Element types of the tensors among "tensor(float)", "seq(tensor(float))"."""
    return [TensorProto.DataType.Value(text[7:-1].upper()) for text in type_strings if text.startswith("tensor(")]


def tensor_type(element, shape=None):
    return helper.make_tensor_type_proto(element, shape)


class Unfit(Exception):
    """The draws do not make a case; the next seed may."""


@dataclasses.dataclass
class Input:
    content: object  # None with type None: left out
    type: object  # an onnx.TypeProto
    constant: bool = False


class Draft:
    """A strategy fills it by random draws. Inputs in order by add() and skip(), attributes by attributes[...]."""

    def __init__(self, seed, domain, name, version):
        self.random = random.Random(seed)
        self.numpy = np.random.default_rng(self.random.getrandbits(64))
        self.domain, self.name, self.version = domain, name, version
        self.schema = schema_of(domain, name, version)
        self.inputs, self.attributes = [], {}
        self.outputs = 1  # number of them, or a list of booleans: which ones are asked for
        self.exact = False  # True: every bit must be right, but for what a NaN holds; "value": and 0 may be -0
        self.magnitude = None  # of what is summed up, for the tolerance; None: the greatest expected value
        self.elementwise = False  # the tolerance is relative to each element
        self.slack = 0  # integers may differ by so much
        self.loose = 1  # the tolerance is so many times the usual one
        self.expected = None  # a function of the inputs that gives the outputs, before other opinions are asked
        self.valid = True  # False: a clean error is fine, and so is any result
        self.drawn = {}  # element types drawn for type variables
        self.unordered = False
        self.float_outputs = False  # numbers that come out are floats, whatever a peer makes of them
        self.older = None  # a version of the operator's form that says the same, for a peer that knows no newer one

    # ---- Draws ----

    def chance(self, probability):
        return self.random.random() < probability

    def choice(self, options):
        return self.random.choice(list(options))

    def integer(self, least, greatest):
        return self.random.randint(least, greatest)

    def dim(self, least=0, greatest=7):
        if self.chance(0.04) and least == 0:
            return 0
        if self.chance(0.15) and least <= 1:
            return 1
        return self.integer(max(1, least), greatest)

    def shape(self, least=0, greatest=4, elements=3000, smallest=0, largest=7):
        rank = self.integer(least, greatest)
        if self.chance(0.05):
            rank = max(rank, min(greatest + 3, 8))
        dims = [self.dim(smallest, largest) for _ in range(rank)]
        while np.prod([max(1, size) for size in dims]) > elements:
            axis = dims.index(max(dims))
            dims[axis] = max(1, smallest, dims[axis] // 2)
            if max(dims) <= max(1, smallest):
                break
        return dims

    def broadcasts(self, count, one_way=False, **limits):
        """Shapes that broadcast to one. one_way: the first is the result's."""
        full = self.shape(**limits)
        shapes = []
        for index in range(count):
            part = list(full)
            if not (one_way and index == 0):
                part = [1 if self.chance(0.25) else size for size in part]
                if self.chance(0.3):
                    part = part[self.integer(0, len(part)):]
            shapes.append(part)
        if not one_way and count:
            self.random.shuffle(shapes)
        return shapes

    def axis(self, rank, negative=True):
        axis = self.integer(0, rank - 1)
        return axis - rank if negative and self.chance(0.4) else axis

    def axes(self, rank, negative=True, least=0, greatest=None):
        count = self.integer(least, rank if greatest is None else min(rank, greatest))
        picked = self.random.sample(range(rank), count)
        return [axis - rank if negative and self.chance(0.4) else axis for axis in picked]

    def element(self, variable, among=None, avoid=()):
        """The element type of a type variable of the schema ("T"), drawn once."""
        if variable not in self.drawn:
            if variable.startswith("tensor("):
                allowed = elements_of([variable])
            else:
                allowed = elements_of(next(c.allowed_type_strs for c in self.schema.type_constraints
                                           if c.type_param_str == variable))
            allowed = [element for element in allowed
                       if element in DTYPES and element not in avoid and (among is None or element in among)]
            if not allowed:
                raise Unfit
            if TensorProto.FLOAT in allowed and self.chance(0.3):
                self.drawn[variable] = TensorProto.FLOAT
            else:
                self.drawn[variable] = self.choice(allowed)
        return self.drawn[variable]

    # ---- Contents ----

    def data(self, element, shape, style="any"):
        """Random contents. Styles: any (all that the type has, at times), finite, unit (-1 to 1), positive, small."""
        count = int(np.prod(shape, dtype=np.int64)) if len(shape) else 1
        dtype = DTYPES[element]
        if element == TensorProto.STRING:
            return np.array([self.choice(WORDS) for _ in range(count)] + [""], object)[:count].reshape(shape)
        if element == TensorProto.BOOL:
            return self.numpy.integers(0, 2, shape).astype(bool).reshape(shape)
        if element in COMPLEX:
            parts = self.numpy.standard_normal((2, count))
            return (parts[0] + 1j * parts[1]).astype(dtype).reshape(shape)
        if element in INTEGERS:
            return self.integers(element, count, style).reshape(shape)
        if style == "unit":
            values = self.numpy.uniform(-1, 1, count)
        else:
            values = self.numpy.standard_normal(count) * self.choice([0.1, 1, 1, 3, 10])
            if self.chance(0.2):
                values = np.round(values)
        if style == "positive":
            values = np.abs(values) + 0.01
        with np.errstate(over="ignore"):
            values = values.astype(np.float32).astype(dtype)
            if style == "any" and self.chance(0.2) and count and element in FLOATS:
                info = np.finfo(dtype) if dtype.kind == "f" else ml_dtypes.finfo(dtype)
                special = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, float(info.max), float(info.min), 0.5, 2.5, -0.5, -1.5, 1e30,
                                    float(info.smallest_subnormal), float(info.tiny)]).astype(dtype)
                where = self.numpy.random(count) < self.choice([0.05, 0.5])
                values[where] = special[self.numpy.integers(0, len(special), int(where.sum()))]
        return values.reshape(shape)

    def integers(self, element, count, style="any"):
        low, high = span(element)
        if style in ("small", "unit", "finite") or self.chance(0.6):
            values = self.numpy.integers(max(low, -10), min(high, 10), count, endpoint=True)
        else:
            values = self.numpy.integers(low, high, count, dtype=np.uint64 if low == 0 else np.int64, endpoint=True)
            if style == "any" and self.chance(0.5):
                edges = np.array([low, high, 0, 1, max(low, -1)], values.dtype)
                where = self.numpy.random(count) < 0.3
                values[where] = edges[self.numpy.integers(0, len(edges), int(where.sum()))]
        if style == "positive":
            values = np.where(values == low, high, np.abs(values.astype(np.int64)) if low else values)
            values = np.maximum(values, 1)
        return values.astype(DTYPES[element])

    # ---- Parts of the node ----

    def add(self, content, constant=None):
        """A tensor."""
        content = np.asarray(content)
        element = ELEMENTS[content.dtype]
        draw = self.random.random()
        if draw < 0.5:
            shape = list(content.shape)
        elif draw < 0.75:
            shape = [f"d{len(self.inputs)}_{axis}" for axis in range(content.ndim)]
        else:
            shape = None
        if constant is None:
            constant = self.chance(0.25)
        self.inputs.append(Input(content, tensor_type(element, shape), constant))
        return content

    def draw(self, variable, shape, style="any", **how):
        """A tensor of the type variable's type with random contents."""
        return self.add(self.data(self.element(variable), shape, style), **how)

    def add_value(self, content, kind):
        """A sequence, optional or map of this onnx.TypeProto."""
        self.inputs.append(Input(content, kind))
        return content

    def skip(self):
        self.inputs.append(Input(None, None))

    def ints(self, values, constant=None, dtype=np.int64):
        return self.add(np.array(values, dtype), constant)

    def maybe(self, name, value, probability=0.6):
        """An attribute that is left out at times; the value that then holds is the caller's matter."""
        if self.chance(probability):
            self.attributes[name] = value
            return True
        return False

    # ---- The model ----

    def build(self, opset):
        """The model, its run inputs (name to content) and their types."""
        inputs, initializers, names, feed, types = [], [], [], {}, {}
        given = list(self.inputs)
        while given and given[-1].type is None and self.chance(0.5):
            given.pop()  # empty names at the end may be left out
        for index, entry in enumerate(given):
            if entry.type is None:
                names.append("")
                continue
            name = f"x{index}"
            names.append(name)
            if entry.constant:
                initializers.append(numpy_helper.from_array(entry.content, name) if entry.content.dtype != object else
                                    helper.make_tensor(name, TensorProto.STRING, entry.content.shape,
                                                       [text.encode() for text in entry.content.reshape(-1)]))
            else:
                inputs.append(helper.make_value_info(name, entry.type))
                feed[name], types[name] = entry.content, entry.type
        wanted = [True] * self.outputs if isinstance(self.outputs, int) else self.outputs
        outputs = [f"y{index}" if asked else "" for index, asked in enumerate(wanted)]
        domain = "" if self.domain == "ai.onnx" else self.domain
        node = helper.make_node(self.name, names, outputs, domain=domain, name="n")
        for name, value in self.attributes.items():
            node.attribute.append(self.attribute(name, value))
        infos = []
        for name in filter(None, outputs):
            infos.append(onnx.ValueInfoProto())
            infos[-1].name = name
        graph = helper.make_graph([node], "case", inputs, infos, initializers)
        imports = [helper.make_opsetid(domain, opset)]
        if domain:
            imports.append(helper.make_opsetid("", 21))
        model = helper.make_model(graph, opset_imports=imports)
        model.ir_version = 11 if opset < 25 else 13
        return model, feed, types

    def attribute(self, name, value):
        kind = None
        if self.schema is not None and name in self.schema.attributes:
            kind = int(self.schema.attributes[name].type.value)
            if kind == onnx.AttributeProto.FLOAT:
                value = float(value)
            elif kind == onnx.AttributeProto.FLOATS:
                value = [float(item) for item in value]
        if kind is None and value == []:
            kind = onnx.AttributeProto.INTS
        return helper.make_attribute(name, value, attr_type=kind) if kind else helper.make_attribute(name, value)
