"""Matrix products and what is like them."""
import numpy as np
from onnx import TensorProto

from draft import FLOATS, INTEGERS, Unfit
from engine import DTYPES
from strategies.reducing import greatest, wide


def accumulated(x):
    """In which the exact sum is taken."""
    return wide(x) if x.dtype.kind not in "biu" else x


def matmul(draft):
    element = draft.element("T")
    draft.exact = element in INTEGERS
    one, two = product_shapes(draft)
    x, y = draft.draw("T", one, "finite"), draft.draw("T", two, "finite")
    draft.magnitude = greatest(x) * greatest(y) * max(1, one[-1]) ** 0.5 + 1e-3

    def formula(x, y):
        with np.errstate(all="ignore"):
            return [np.asarray(np.matmul(accumulated(x), accumulated(y))).astype(x.dtype)]
    draft.expected = formula


def product_shapes(draft):
    outer = draft.broadcasts(2, least=0, greatest=2, elements=30)
    k = draft.dim(0, 9) if draft.chance(0.8) else draft.integer(10, 70)
    one = outer[0] + [draft.dim(0, 9), k]
    two = outer[1] + [k, draft.dim(0, 9)]
    draw = draft.random.random()
    if draw < 0.1:
        one = [k]
    elif draw < 0.2:
        two = [k]
    elif draw < 0.25:
        one, two = [k], [k]
    return one, two


def zeros_of(draft, element, shape, axis):
    """A zero point of one element or of one for each row or column."""
    return draft.data(element, [] if draft.chance(0.6) else [1] if draft.chance(0.5) else [shape[axis]], "small")


def matmul_integer(draft):
    one, two = product_shapes(draft)
    first, second = draft.element("T1"), draft.element("T2")
    draft.draw("T1", one)
    draft.draw("T2", two)
    draft.exact = True
    if draft.chance(0.6):
        per_row = draft.chance(0.3) and len(one) == 2
        draft.add(draft.data(first, [one[-2]] if per_row else [] if draft.chance(0.5) else [1], "small"))
        if draft.chance(0.6):
            per_column = draft.chance(0.3) and len(two) == 2
            draft.add(draft.data(second, [two[-1]] if per_column else [], "small"))

    def formula(x, y, xz=None, yz=None):
        x, y = x.astype(np.int64), y.astype(np.int64)
        if xz is not None:
            x = x - (xz.astype(np.int64)[:, None] if xz.ndim and xz.size > 1 else xz.astype(np.int64).reshape(-1)[0] if xz.size else 0)
        if yz is not None:
            y = y - (yz.astype(np.int64) if yz.ndim and yz.size > 1 else yz.astype(np.int64).reshape(-1)[0] if yz.size else 0)
        return [np.asarray(np.matmul(x, y)).astype(np.int32)]
    draft.expected = formula


def qlinear_matmul(draft):
    one, two = product_shapes(draft)
    float_type = np.float32
    if draft.version >= 21:
        float_type = DTYPES[draft.element("TS")]
    kinds = [draft.element(variable) for variable in ("T1", "T2", "T3")]
    if any(kind not in INTEGERS for kind in kinds):
        raise Unfit  # the text says nothing of how products of float8 are summed up
    if float_type != np.float32:
        raise Unfit  # scales of few bits move results by more than one step

    def scale():
        return np.array(draft.random.uniform(0.01, 0.2), float_type)
    draft.add(draft.data(kinds[0], one))
    draft.add(scale())
    draft.add(draft.data(kinds[0], [], "small"))
    draft.add(draft.data(kinds[1], two))
    draft.add(scale())
    draft.add(draft.data(kinds[1], [], "small"))
    draft.add((scale() * 10).astype(float_type))
    draft.add(draft.data(kinds[2], [], "small"))
    draft.slack = 1

    def formula(a, asc, az, b, bsc, bz, ysc, yz):
        sums = np.matmul(a.astype(np.int64) - int(az), b.astype(np.int64) - int(bz))
        scaled = np.rint(sums * (float(asc) * float(bsc) / float(ysc))) + int(yz)
        limits = np.iinfo(yz.dtype)
        return [np.asarray(np.clip(scaled, limits.min, limits.max)).astype(yz.dtype)]
    draft.expected = formula


def gemm(draft):
    m, k, n = draft.dim(0, 9), draft.dim(0, 30), draft.dim(0, 9)
    element = draft.element("T")
    across, down = draft.chance(0.4), draft.chance(0.4)
    x = draft.draw("T", [k, m] if across else [m, k], "finite")
    y = draft.draw("T", [n, k] if down else [k, n], "finite")
    if across or draft.chance(0.3):
        draft.attributes["transA"] = int(across)
    if down or draft.chance(0.3):
        draft.attributes["transB"] = int(down)
    alpha = beta = 1.0
    if draft.maybe("alpha", 0.5 if element in FLOATS else 2.0, 0.4):
        alpha = draft.attributes["alpha"]
    if draft.maybe("beta", 2.0, 0.4):
        beta = 2.0
    if draft.version < 11 or draft.chance(0.6):
        shape = draft.choice([[m, n], [1, n], [n], [m, 1], [1], []])
        if draft.version < 7:
            shape = draft.choice([[m, n], [n], [1]])
            if shape != [m, n]:
                draft.attributes["broadcast"] = 1
        draft.draw("T", shape, "finite")
    draft.exact = element in INTEGERS
    draft.magnitude = greatest(x) * greatest(y) * max(1, k) ** 0.5 + 10

    def formula(a, b, c=None):
        if a.dtype.kind in "iu":
            a, b = a.astype(np.int64), b.astype(np.int64)
        else:
            a, b = wide(a), wide(b)
        with np.errstate(all="ignore"):
            result = np.matmul(a.T if across else a, b.T if down else b) * a.dtype.type(alpha)
            if c is not None:
                result = result + c.astype(a.dtype) * a.dtype.type(beta)
        return [np.broadcast_to(result, (m, n)).astype(x.dtype)]
    draft.expected = formula
    if element in INTEGERS and any(entry.content.size and greatest(entry.content) > 1 << 24 for entry in draft.inputs):
        raise Unfit  # alpha and beta are floats


EQUATIONS = ["ij,jk->ik", "ij,jk", "ij->ji", "ij->", "ii->i", "ii", "i,i->", "i,j->ij", "bij,bjk->bik", "...ij,...jk->...ik",
             "...i->...", "ij,ij->ij", "ijk,ilm->jklm", "b i j , b j k -> b i k", "ij,kj,lj->ikl", "i...->...", "bhwij,bhjk->bhwik",
             "iij->j", "...ii->...i", "i,ij,j->", "ab...,b...->a..."]


def einsum(draft):
    equation = draft.choice(EQUATIONS)
    sizes = {letter: draft.dim(1, 4) for letter in "abhijklmw"}
    outer = [draft.dim(1, 3) for _ in range(draft.integer(0, 2))]
    draft.attributes["equation"] = equation
    terms = equation.split("->")[0].replace(" ", "").split(",")
    if "..." in equation and draft.chance(0.2):
        outer = []
    size = 1.0
    for term in terms:
        front, dots, back = term.partition("...")
        shape = [sizes[letter] for letter in front] + (outer if dots else []) + [sizes[letter] for letter in back]
        content = draft.draw("T", shape, "finite")
        size *= max(1.0, greatest(content))
    element = draft.element("T")
    draft.exact = element in INTEGERS
    draft.magnitude = size * 16

    def formula(*contents):
        with np.errstate(all="ignore"):
            return [np.asarray(np.einsum(equation.replace(" ", ""), *map(accumulated, contents))).astype(contents[0].dtype)]
    draft.expected = formula


def det(draft):
    n = draft.integer(1, 5)
    outer = draft.shape(0, 2, 10)
    x = draft.draw("T", outer + [n, n], "finite")
    draft.magnitude = greatest(x) ** n * 24 + 1e-3
    draft.expected = lambda x: [np.asarray(np.linalg.det(wide(x))).astype(x.dtype)]


STRATEGIES = {"MatMul": matmul, "MatMulInteger": matmul_integer, "QLinearMatMul": qlinear_matmul, "Gemm": gemm,
              "Einsum": einsum, "Det": det}
