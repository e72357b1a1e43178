#!/usr/bin/env python3
"""Fail where src/ names a model, its file or a value in it: the library must treat every model alike.

Names come from the models of INGOT_TEST_DATA (models/, perf/): file names anywhere in src/, value and node names in its string
literals. Exit code 77 (skipped) without that folder or the onnx package."""
import json
import os
import re
import sys

import house

STRING = re.compile(r'"((?:\\.|[^"\\\n])*)"')
WORD = re.compile(r"[\w./:-]+")


def model_paths(data):
    for folder in ("models", "perf"):
        place = os.path.join(data, folder)
        names = sorted(os.listdir(place)) if os.path.isdir(place) else []
        yield from (os.path.join(place, name) for name in names if name.endswith(".onnx"))


def graphs(graph):
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for body in [attribute.g, *attribute.graphs]:
                if body.node:
                    yield from graphs(body)


def value_names(onnx, path):
    model = onnx.load(path, load_external_data=False)
    names = set()
    for graph in graphs(model.graph):
        names.update(item.name for item in [*graph.input, *graph.output, *graph.initializer, *graph.node])
        names.update(output for node in graph.node for output in node.output)
    # Shorter or plainer ones are words that anybody uses.
    return {name for name in names if len(name) > 8 and re.search(r"[\d/._:-]", name)}


def standard_words(onnx):
    """Names that the standard, and ONNX Runtime beside it, gives to operators, attributes, inputs and outputs."""
    words = set()
    for schema in onnx.defs.get_all_schemas_with_history():
        words.update([schema.name, *schema.attributes])
        words.update(item.name for item in [*schema.inputs, *schema.outputs])
    for operator in json.loads(house.read("src/ops/extra_schemas.json"))["operators"]:
        words.update(item[0] for kind in ("attributes", "inputs", "outputs") for item in operator[kind])
    return words


def main():
    data = os.environ.get("INGOT_TEST_DATA")
    if not data:
        return house.skip("INGOT_TEST_DATA is not set")
    try:
        import onnx
    except ImportError as error:
        return house.skip(error)
    models, values = set(), set()
    for path in model_paths(data):
        models.add(os.path.splitext(os.path.basename(path))[0].lower())
        values |= value_names(onnx, path)
    values -= standard_words(onnx)
    problems = []
    for path in house.files("src", endings=(".c", ".h", ".def", ".py", ".cu")):
        for number, line in enumerate(house.read(path).split("\n"), 1):
            found = models & {word.lower() for word in re.findall(r"\w+", line)}
            for literal in STRING.findall(line):
                found |= values & {literal, *WORD.findall(literal)}
            problems += [f"{path}:{number}: '{name}' is the name of a model or of a value in one" for name in sorted(found)]
    return house.finish(problems)


if __name__ == "__main__":
    sys.exit(main())
