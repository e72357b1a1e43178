"""ingot ops."""
import json


def test_json_and_text_list_the_same_operators(ingot):
    operators = json.loads(ingot("ops", "--json").stdout)["operators"]
    text = ingot("ops").stdout.splitlines()
    assert len(operators) > 0 and text[-1] == f"{len(operators)} operator versions"
    for operator, line in zip(operators, text[1:-1], strict=True):
        assert line.split()[:3] == [operator["domain"], operator["name"], str(operator["since_version"])]
        assert operator["backends"] and isinstance(operator["types"], str)


def test_operators_are_sorted_and_listed_once(ingot):
    keys = [(o["domain"], o["name"], o["since_version"]) for o in json.loads(ingot("ops", "--json").stdout)["operators"]]
    assert keys == sorted(set(keys))
