"""ai.onnx.ml: encoders, linear models, trees, support vectors."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from draft import FLOATS, WORDS, Unfit
from engine import DTYPES
from strategies.sequences import tensor_type

POST = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]


def numbers(draft, count, low=-2.0, high=2.0):
    return [float(np.float32(value)) for value in draft.numpy.uniform(low, high, count)]


def in_floats(draft):
    """The text has floats come out, where the reference keeps the type of the input."""
    draft.float_outputs = True


def features(draft, variable="T", columns=None, rows=None):
    """Rows of features that are never near a threshold of a .5 grid."""
    rows = draft.integer(1, 4) if rows is None else rows
    columns = draft.integer(1, 5) if columns is None else columns
    return draft.draw(variable, [rows, columns], "small")


def array_feature_extractor(draft):
    shape = draft.shape(1, 3, smallest=1)
    draft.draw("T", shape)
    places = draft.numpy.integers(0, shape[-1], [draft.integer(1, 5)])
    draft.ints(places)
    draft.exact = True

    def pick(x, i):
        picked = np.take(x, i, -1)
        return [picked.reshape(1, -1) if x.ndim == 1 else picked]
    draft.expected = pick


def binarizer(draft):
    draft.draw("T", draft.shape(1, 3), "finite")
    threshold = 0.0
    if draft.maybe("threshold", 0.5):
        threshold = 0.5
    draft.exact = True
    draft.expected = lambda x: [(x > threshold).astype(x.dtype)]


def category_mapper(draft):
    words = draft.random.sample(WORDS[:8], 4)
    codes = draft.random.sample(range(-5, 20), 4)
    draft.attributes.update(cats_strings=words, cats_int64s=codes)
    draft.maybe("default_string", "other")
    draft.maybe("default_int64", -7)
    draft.exact = True
    if draft.chance(0.5):
        draft.add(draft.data(TensorProto.STRING, draft.shape(1, 3)))
        table = dict(zip(words, codes))
        draft.expected = lambda x: [np.array([table.get(item, draft.attributes.get("default_int64", -1)) for item in x.reshape(-1)],
                                             np.int64).reshape(x.shape)]
    else:
        draft.add(draft.numpy.integers(-5, 20, draft.shape(1, 3)))
        table = dict(zip(codes, words))
        draft.expected = lambda x: [np.array([table.get(int(item), draft.attributes.get("default_string", "_Unused")) for item in
                                              x.reshape(-1)] + [""], object)[:x.size].reshape(x.shape)]


def label_encoder(draft):
    draft.exact = True
    if draft.version < 2:
        words = draft.random.sample(WORDS, 5)
        draft.attributes["classes_strings"] = words
        draft.maybe("default_string", "other")
        draft.maybe("default_int64", -7)
        if draft.chance(0.5):
            draft.add(draft.data(TensorProto.STRING, draft.shape(1, 3)))
            draft.expected = lambda x: [np.array([words.index(item) if item in words else draft.attributes.get("default_int64", -1)
                                                  for item in x.reshape(-1)], np.int64).reshape(x.shape)]
        else:
            draft.add(draft.numpy.integers(-2, 8, draft.shape(1, 3)))
            draft.expected = lambda x: [np.array([words[item] if 0 <= item < 5 else draft.attributes.get(
                "default_string", "_Unused") for item in x.reshape(-1)] + [""], object)[:x.size].reshape(x.shape)]
        return
    kinds = {"strings": TensorProto.STRING, "int64s": TensorProto.INT64, "floats": TensorProto.FLOAT}
    count = draft.integer(1, 6)
    if draft.version >= 4 and draft.chance(0.4):
        keys = [TensorProto.DOUBLE, TensorProto.INT16, TensorProto.INT32, TensorProto.STRING, TensorProto.INT64, TensorProto.FLOAT]
        source, target = draft.choice(keys), draft.choice(keys)
        table = dict(zip(draft.data(source, [count], "small").tolist(), draft.data(target, [count], "small").tolist()))
        default = draft.data(target, [1], "small")

        def proto(content, element):
            if element == TensorProto.STRING:
                return helper.make_tensor("t", element, [len(content)], [item.encode() for item in content])
            return numpy_helper.from_array(np.array(content, DTYPES[element]), "t")
        draft.attributes.update(keys_tensor=proto(list(table), source), values_tensor=proto(list(table.values()), target),
                                default_tensor=proto(default.tolist(), target))
        fallback = default[0]
    else:
        one, two = draft.choice(kinds), draft.choice(kinds)
        source, target = kinds[one], kinds[two]
        if draft.version < 2:
            raise Unfit
        table = dict(zip(draft.data(source, [count], "small").tolist(), draft.data(target, [count], "small").tolist()))
        draft.attributes["keys_" + one], draft.attributes["values_" + two] = list(table), list(table.values())
        default = {"strings": ("default_string", "_Unused", "other"), "int64s": ("default_int64", -1, 9),
                   "floats": ("default_float", -0.0, 0.5)}[two]
        fallback = default[1]
        if draft.maybe(default[0], default[2]):
            fallback = default[2]
    values = list(table) + draft.data(source, [3], "small").tolist()
    shape = draft.shape(1, 2, 20)
    total = int(np.prod(shape))
    draft.add(np.array([draft.choice(values) for _ in range(total)] + values[:1], DTYPES[source])[:total].reshape(shape))
    table = {np.asarray(key, DTYPES[source]).item(): value for key, value in table.items()}
    draft.expected = lambda x: [np.array([table.get(item, fallback) for item in x.reshape(-1).tolist()] + [fallback],
                                         DTYPES[target])[:total].reshape(shape)]


def feature_vectorizer(draft):
    rows = draft.integer(1, 4)
    sizes = [draft.integer(1, 4) for _ in range(draft.integer(1, 3))]
    draft.attributes["inputdimensions"] = sizes
    for size in sizes:
        draft.draw("T1", [rows, size])
    draft.expected = lambda *contents: [np.concatenate([x.astype(np.float32) for x in contents], 1)]


def imputer(draft):
    x = draft.draw("T", [draft.integer(1, 4), draft.integer(1, 4)], "finite")
    columns = x.shape[1] if draft.chance(0.5) else 1
    draft.exact = True
    if x.dtype.kind == "f":
        values, missing = numbers(draft, columns), draft.choice([np.nan, 1.0])
        draft.attributes.update(imputed_value_floats=values, replaced_value_float=missing)
        if draft.chance(0.5):
            x[0, 0] = missing
    else:
        values, missing = [draft.integer(-9, 9) for _ in range(columns)], draft.integer(-3, 3)
        draft.attributes.update(imputed_value_int64s=values, replaced_value_int64=missing)

    def impute(x):
        hole = np.isnan(x) if missing != missing else x == np.asarray(missing).astype(x.dtype)
        return [np.where(hole, np.array(values).astype(x.dtype), x)]
    draft.expected = impute


def normalizer(draft):
    in_floats(draft)
    draft.draw("T", [draft.integer(1, 4), draft.integer(1, 5)] if draft.chance(0.8) else [draft.integer(1, 5)], "small")
    norm = "MAX"
    if draft.chance(0.8):
        norm = draft.choice(["MAX", "L1", "L2"])
        draft.attributes["norm"] = norm

    def normal(x):
        x = x.astype(np.float64)
        size = {"MAX": lambda: np.abs(x).max(-1, keepdims=True), "L1": lambda: np.abs(x).sum(-1, keepdims=True),
                "L2": lambda: np.sqrt((x * x).sum(-1, keepdims=True))}[norm]()
        return [(x / np.where(size == 0, 1, size)).astype(np.float32)]
    draft.expected = normal


def one_hot_encoder(draft):
    element = draft.element("T")
    shape = draft.shape(1, 2, 20)
    if element == TensorProto.STRING:
        categories = draft.random.sample(WORDS, 4)
        draft.attributes["cats_strings"] = categories
    else:
        categories = draft.random.sample(range(-5, 6), 4)
        draft.attributes["cats_int64s"] = categories
    draft.attributes["zeros"] = 1
    content = draft.data(element, shape, "small")
    if element in FLOATS:
        content = np.round(content)
    draft.add(content)
    draft.exact = True
    draft.expected = lambda x: [np.array([[float(item == category) for category in categories] for item in x.reshape(-1).tolist()],
                                         np.float32).reshape([*x.shape, 4])]


def scaler(draft):
    x = draft.draw("T", [draft.integer(1, 4), draft.integer(1, 4)], "finite")
    count = x.shape[1] if draft.chance(0.6) else 1
    offset, scale = numbers(draft, count), numbers(draft, count)
    draft.attributes.update(offset=offset, scale=scale)
    draft.magnitude = 20 if x.dtype.kind == "f" else 100
    draft.expected = lambda x: [((x.astype(np.float64) - np.array(offset)) * np.array(scale)).astype(np.float32)]
    if x.dtype.kind in "iu" and x.size and np.abs(x.astype(np.float64)).max() > 1e6:
        raise Unfit


def linear_regressor(draft):
    x = features(draft)
    targets = draft.integer(1, 3)
    if targets > 1 or draft.chance(0.5):
        draft.attributes["targets"] = targets
    draft.attributes["coefficients"] = numbers(draft, targets * x.shape[1])
    draft.maybe("intercepts", numbers(draft, targets))
    draft.maybe("post_transform", "NONE", 0.3)
    draft.magnitude = 100
    draft.expected = lambda x: [(x.astype(np.float64) @ np.array(draft.attributes["coefficients"]).reshape(targets, -1).T +
                                 np.array(draft.attributes.get("intercepts", [0] * targets))).astype(np.float32)]


def linear_classifier(draft):
    in_floats(draft)
    x = features(draft, "T1")
    classes = draft.integer(2, 4)
    draft.attributes["coefficients"] = numbers(draft, classes * x.shape[1])
    draft.attributes["intercepts"] = numbers(draft, classes)
    labels(draft, classes, "classlabels_ints")
    draft.maybe("post_transform", draft.choice(POST[:4]))
    draft.maybe("multi_class", 0, 0.2)
    draft.outputs = 2
    draft.magnitude, draft.loose = 100, 4


def labels(draft, classes, name):
    if draft.chance(0.5):
        draft.attributes[name] = draft.random.sample(range(-3, 9), classes)
    else:
        draft.attributes["classlabels_strings"] = draft.random.sample(WORDS[1:], classes)


def tree(draft, columns, depth):
    """Nodes in depth-first order: (feature, threshold, mode, true child, false child); a leaf has no feature."""
    nodes = []

    def grow(left):
        at = len(nodes)
        nodes.append(None)
        if left == 0 or draft.chance(0.2):
            nodes[at] = (0, 0.0, "LEAF", 0, 0)
        else:
            mode = draft.choice(["BRANCH_LEQ", "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"])
            one = grow(left - 1)
            two = grow(left - 1)
            nodes[at] = (draft.integer(0, columns - 1), draft.integer(-6, 6) / 2, mode, one, two)
        return at
    grow(depth)
    return nodes


def tree_attributes(draft, columns):
    names = ("nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_values", "nodes_modes", "nodes_truenodeids",
             "nodes_falsenodeids", "nodes_missing_value_tracks_true")
    table = {name: [] for name in names}
    leaves = []
    for number in range(draft.integer(1, 4)):
        for at, (feature, threshold, mode, one, two) in enumerate(tree(draft, columns, draft.integer(0, 3))):
            for name, value in zip(names, (number, at, feature, threshold, mode, one, two, draft.integer(0, 1))):
                table[name].append(value)
            if mode == "LEAF":
                leaves.append((number, at))
    if draft.chance(0.4):
        del table["nodes_missing_value_tracks_true"]
    draft.attributes.update(table)
    return leaves


def tree_regressor(draft):
    in_floats(draft)
    x = features(draft)
    if draft.chance(0.3) and x.dtype.kind == "f":
        x[0, 0] = np.nan
    leaves = tree_attributes(draft, x.shape[1])
    targets = draft.integer(1, 3)
    rows = [(number, at, draft.integer(0, targets - 1)) for number, at in leaves for _ in range(draft.integer(1, 2))]
    rows = sorted(set(rows))
    weights = numbers(draft, len(rows))
    draft.attributes.update(n_targets=targets, target_treeids=[row[0] for row in rows], target_nodeids=[row[1] for row in rows],
                            target_ids=[row[2] for row in rows], target_weights=weights)
    draft.maybe("aggregate_function", draft.choice(["SUM", "AVERAGE", "MIN", "MAX"]))
    draft.maybe("post_transform", draft.choice(POST[:4]) if targets > 1 else "NONE", 0.4)
    draft.maybe("base_values", numbers(draft, targets), 0.4)
    draft.loose = 8
    if draft.attributes.get("aggregate_function") in ("MIN", "MAX") and targets > 1:
        raise Unfit  # of targets that a tree does not reach the text says nothing
    nodes = draft.attributes

    def formula(x):
        scores = []
        for row in x:
            given = []
            for number in range(max(nodes["nodes_treeids"]) + 1):
                given += [(target, weight) for (tree_id, node, target), weight in zip(rows, weights)
                          if tree_id == number and node == reached(nodes, number, row)]
            scores.append(aggregate(given, 1, max(nodes["nodes_treeids"]) + 1, targets, nodes.get("aggregate_function", "SUM"),
                                    nodes.get("base_values"))[0])
        return [transformed(np.array(scores), nodes.get("post_transform", "NONE")).astype(np.float32)]
    draft.expected = formula


def reached(nodes, number, row):
    """The leaf of a tree that a row of features comes to."""
    first = nodes["nodes_treeids"].index(number)
    node = 0
    while True:
        at = first + node
        mode = nodes["nodes_modes"][at]
        if mode == "LEAF":
            return node
        value = np.float32(row[nodes["nodes_featureids"][at]])
        true = compare(mode, value, np.float32(nodes["nodes_values"][at]))
        if np.isnan(value):
            true = nodes.get("nodes_missing_value_tracks_true", [0] * (at + 1))[at]
        node = nodes["nodes_truenodeids" if true else "nodes_falsenodeids"][at]


def tree_classifier(draft):
    in_floats(draft)
    x = features(draft, "T1")
    leaves = tree_attributes(draft, x.shape[1])
    classes = draft.integer(2, 4)
    labels(draft, classes, "classlabels_int64s")
    rows = [(number, at, category) for number, at in leaves for category in range(classes)]
    draft.attributes.update(class_treeids=[row[0] for row in rows], class_nodeids=[row[1] for row in rows],
                            class_ids=[row[2] for row in rows], class_weights=numbers(draft, len(rows), 0, 1))
    draft.maybe("post_transform", draft.choice(POST[:4]), 0.4)
    draft.maybe("base_values", numbers(draft, classes), 0.3)
    draft.outputs = 2
    draft.loose = 8


MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


def compare(mode, value, threshold):
    return {"LEQ": value <= threshold, "LT": value < threshold, "GTE": value >= threshold, "GT": value > threshold,
            "EQ": value == threshold, "NEQ": value != threshold}[mode[7:]]


def aggregate(leaves, rows, trees, targets, how, base):
    """Leaves of the trees, row after row: for each row a list of (target, weight)."""
    per_row = len(leaves) // rows if rows else 0
    scores = np.zeros((rows, targets))
    for row in range(rows):
        for target in range(targets):
            mine = [weight for at, weight in leaves[row * per_row:(row + 1) * per_row] if at == target]
            if mine:
                scores[row, target] = {"SUM": sum(mine), "AVERAGE": sum(mine) / trees, "MIN": min(mine), "MAX": max(mine)}[how]
    return scores if base is None else scores + np.array(base)


def transformed(scores, how):
    if how == "LOGISTIC":
        return 1 / (1 + np.exp(-scores))
    if how == "SOFTMAX":
        powers = np.exp(scores - scores.max(1, keepdims=True))
        return powers / powers.sum(1, keepdims=True)
    if how == "SOFTMAX_ZERO":  # zeros stay
        powers = np.where(scores == 0, 0, np.exp(scores - scores.max(1, keepdims=True)))
        total = powers.sum(1, keepdims=True)
        return np.divide(powers, total, out=np.zeros_like(powers), where=total != 0)
    return scores


def tree_ensemble(draft):
    x = features(draft)
    dtype = x.dtype
    table = {name: [] for name in ("nodes_featureids", "nodes_splits", "nodes_modes", "nodes_truenodeids", "nodes_trueleafs",
                                   "nodes_falsenodeids", "nodes_falseleafs")}
    leaf_targets, leaf_weights, roots = [], [], []
    targets = draft.integer(1, 3)

    def leaf():
        leaf_targets.append(draft.integer(0, targets - 1))
        leaf_weights.append(draft.random.uniform(-2, 2))
        return len(leaf_targets) - 1

    def grow(left):
        at = len(table["nodes_splits"])
        for column in table.values():
            column.append(0)
        table["nodes_featureids"][at] = draft.integer(0, x.shape[1] - 1)
        table["nodes_splits"][at] = draft.integer(-6, 6) / 2
        table["nodes_modes"][at] = draft.integer(0, 5)
        for side in ("true", "false"):
            last = left == 0 or draft.chance(0.3)
            child = leaf() if last else grow(left - 1)
            table[f"nodes_{side}nodeids"][at], table[f"nodes_{side}leafs"][at] = child, int(last)
        return at
    for _ in range(draft.integer(1, 3)):
        roots.append(grow(draft.integer(0, 2)))
    table["nodes_splits"] = numpy_helper.from_array(np.array(table["nodes_splits"], dtype), "s")
    modes = table["nodes_modes"]
    table["nodes_modes"] = numpy_helper.from_array(np.array(table["nodes_modes"], np.uint8), "m")
    draft.attributes.update(table, tree_roots=roots, n_targets=targets, leaf_targetids=leaf_targets,
                            leaf_weights=numpy_helper.from_array(np.array(leaf_weights, dtype), "w"))
    draft.maybe("aggregate_function", draft.choice([0, 1, 2, 3]))
    if targets > 1 and draft.attributes.get("aggregate_function", 1) > 1:
        raise Unfit  # of targets that no tree reaches the text says nothing
    draft.maybe("post_transform", draft.choice([0, 0, 1, 2, 3]))
    draft.loose = 8
    splits, weights = numpy_helper.to_array(table["nodes_splits"]), np.array(leaf_weights, dtype)

    def formula(x):
        leaves = []
        for row in x:
            for at in roots:
                while True:
                    value = row[table["nodes_featureids"][at]]
                    mode = MODES[modes[at]]
                    side = "true" if compare(mode, value, splits[at]) else "false"
                    child = table[f"nodes_{side}nodeids"][at]
                    if table[f"nodes_{side}leafs"][at]:
                        leaves.append((leaf_targets[child], float(weights[child])))
                        break
                    at = child
        scores = aggregate(leaves, len(x), len(roots), targets, ["AVERAGE", "SUM", "MIN", "MAX"][
            draft.attributes.get("aggregate_function", 1)], None)
        return [transformed(scores, ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"][draft.attributes.get("post_transform", 0)]).astype(dtype)]
    draft.expected = formula


def svm_regressor(draft):
    in_floats(draft)
    x = features(draft)
    count = draft.integer(1, 4)
    kernel(draft)
    draft.attributes.update(coefficients=numbers(draft, count), n_supports=count, rho=numbers(draft, 1),
                            support_vectors=numbers(draft, count * x.shape[1], -1, 1))
    draft.maybe("one_class", draft.integer(0, 1), 0.2)
    draft.magnitude, draft.loose = 100, 40


def kernel(draft):
    draft.attributes["kernel_type"] = draft.choice(["LINEAR", "POLY", "RBF", "SIGMOID"])
    draft.attributes["kernel_params"] = [0.5, 0.25, 2.0]


def svm_classifier(draft):
    in_floats(draft)
    x = features(draft, "T1")
    classes = draft.integer(2, 3)
    per_class = [draft.integer(1, 3) for _ in range(classes)]
    total = sum(per_class)
    kernel(draft)
    labels(draft, classes, "classlabels_ints")
    draft.attributes.update(vectors_per_class=per_class, coefficients=numbers(draft, total * (classes - 1)),
                            support_vectors=numbers(draft, total * x.shape[1], -1, 1),
                            rho=numbers(draft, classes * (classes - 1) // 2))
    if draft.chance(0.4):
        pairs = classes * (classes - 1) // 2
        draft.attributes.update(prob_a=numbers(draft, pairs, -2, -0.5), prob_b=numbers(draft, pairs))
    if "classlabels_ints" in draft.attributes:  # with strings the reference cannot
        draft.maybe("post_transform", draft.choice(POST[:4]), 0.3)
    draft.outputs = 2
    draft.magnitude, draft.loose = 100, 40


def zip_map(draft):
    columns = draft.integer(1, 4)
    draft.add(draft.data(TensorProto.FLOAT, [draft.integer(1, 4), columns] if draft.chance(0.8) else [columns]))
    if draft.chance(0.5):
        names = draft.random.sample(range(-9, 9), columns)
        draft.attributes["classlabels_int64s"] = names
    else:
        names = draft.random.sample(WORDS, columns)
        draft.attributes["classlabels_strings"] = names
    draft.expected = lambda x: [[dict(zip(names, row)) for row in x.reshape(-1, columns)]]
    draft.elementwise = True


def dict_vectorizer(draft):
    key, value = draft.choice([(TensorProto.STRING, TensorProto.INT64), (TensorProto.INT64, TensorProto.FLOAT),
                               (TensorProto.INT64, TensorProto.DOUBLE), (TensorProto.STRING, TensorProto.FLOAT),
                               (TensorProto.STRING, TensorProto.DOUBLE), (TensorProto.INT64, TensorProto.STRING)])
    pool = WORDS[1:] if key == TensorProto.STRING else list(range(-6, 9))
    vocabulary = draft.random.sample(pool, 4)
    draft.attributes["string_vocabulary" if key == TensorProto.STRING else "int64_vocabulary"] = vocabulary
    keys = draft.random.sample(pool, draft.integer(1, 5))
    content = dict(zip(keys, draft.data(value, [len(keys)], "finite").tolist()))
    draft.add_value(content, helper.make_map_type_proto(key, tensor_type(value)))
    empty = "" if value == TensorProto.STRING else 0
    draft.exact = True
    draft.expected = lambda x: [np.array([x.get(word, empty) for word in vocabulary], DTYPES[value])]


def cast_map(draft):
    value = draft.choice([TensorProto.STRING, TensorProto.FLOAT])
    keys = sorted(draft.random.sample(range(0, 9), draft.integer(1, 5)))
    if value == TensorProto.STRING:
        content = {key: draft.choice(["1", "2.5", "-3", "0"]) for key in keys}
        target = draft.choice(["TO_FLOAT", "TO_STRING"])
    else:
        content = dict(zip(keys, draft.data(value, [len(keys)], "small").tolist()))
        target = "TO_FLOAT"
    draft.attributes["cast_to"] = target
    dense = draft.chance(0.6)
    size = 12
    if dense or draft.chance(0.5):
        draft.attributes["map_form"] = "DENSE" if dense else "SPARSE"
    if draft.attributes.get("map_form") == "SPARSE":
        draft.attributes["max_map"] = size
    draft.add_value(content, helper.make_map_type_proto(TensorProto.INT64, tensor_type(value)))
    dtype = np.float32 if target == "TO_FLOAT" else object

    def form(x):
        convert = float if target == "TO_FLOAT" else str
        if draft.attributes.get("map_form") == "SPARSE":
            row = [convert(x[key]) if key in x else ("" if dtype == object else 0.0) for key in range(size)]
        else:
            row = [convert(x[key]) for key in sorted(x)]
        return [np.array([row], dtype)]
    draft.expected = form


STRATEGIES = {
    "ArrayFeatureExtractor": array_feature_extractor, "Binarizer": binarizer, "CategoryMapper": category_mapper,
    "LabelEncoder": label_encoder, "FeatureVectorizer": feature_vectorizer, "Imputer": imputer, "Normalizer": normalizer,
    "OneHotEncoder": one_hot_encoder, "Scaler": scaler, "LinearRegressor": linear_regressor,
    "LinearClassifier": linear_classifier, "TreeEnsembleRegressor": tree_regressor, "TreeEnsembleClassifier": tree_classifier,
    "TreeEnsemble": tree_ensemble, "SVMRegressor": svm_regressor, "SVMClassifier": svm_classifier, "ZipMap": zip_map,
    "DictVectorizer": dict_vectorizer, "CastMap": cast_map,
}
