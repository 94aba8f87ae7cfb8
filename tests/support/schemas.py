"""JSON Schemas of docs/ for tests; one that needs them says SKIPPED where python3-jsonschema is not installed."""
import copy
import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    print("SKIPPED: python3-jsonschema is not installed")
    sys.exit(77)

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
REMOVE = object()


def validator_of(schema):
    """Of a name in docs/ or a path, once the schema is found to be one."""
    path = DOCS / f"{schema}.schema.json" if "." not in str(schema) else pathlib.Path(schema)
    value = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(value)
    return jsonschema.Draft7Validator(value)


def errors_of(validator, value, name):
    """"name: /place: what" of everything that is wrong."""
    return [f"{name}: /{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in validator.iter_errors(value)]


def edited(value, path, new):
    """A copy with another value at the path; REMOVE takes the key away."""
    result = copy.deepcopy(value)
    parent = result
    for step in path[:-1]:
        parent = parent[step]
    if new is REMOVE:
        del parent[path[-1]]
    else:
        parent[path[-1]] = new
    return result


def finish(failures):
    print(*failures, sep="\n", end="\n" if failures else "")
    sys.exit(1 if failures else 0)
