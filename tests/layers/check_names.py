#!/usr/bin/env python3
"""Names that our Python scripts take from each other are there: what runs before a release alone would show it late.

    check_names.py ROOT          exit code 1: each name that its module has not is printed as file:line
    check_names.py --self-test   breaks the rule in a scratch tree
"""

import ast
import pathlib
import sys
import tempfile


def scripts(root):
    """Python files by path, those without a suffix that begin as such among them."""
    for folder in ("tests", "tools", "python", "findings"):
        for path in sorted((root / folder).rglob("*")):
            if not path.is_file() or path.suffix not in ("", ".py"):
                continue
            with open(path, "rb") as file:
                if path.suffix == ".py" or b"python3" in file.readline():
                    yield path


def names_of(tree):
    """What a module has at its top level, inside if, try, for and with as well."""
    names, left = set(), list(tree.body)
    while left:
        node = left.pop()
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        left += ast.iter_child_nodes(node)
    return names


def breaches(root):
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in scripts(root)}
    names = {path: names_of(tree) for path, tree in trees.items()}
    by_stem = {}
    for path in trees:
        by_stem.setdefault(path.stem, []).append(path)

    def module(name, user):
        """The file that an import of the name means: beside its user, or the only one of that name."""
        found = by_stem.get(name, [])
        beside = [path for path in found if path.parent == user.parent]
        return (beside or found)[0] if len(beside or found) == 1 else None

    for path, tree in trees.items():
        taken = {}  # local name: module
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                taken |= {alias.asname or alias.name: module(alias.name, path) for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and (source := module(node.module, path)):
                for alias in node.names:
                    if alias.name not in names[source] | {"*"}:
                        yield f"{path.relative_to(root)}:{node.lineno}: {source.name} has no {alias.name}"
        hidden = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)} | {
            node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id not in hidden:
                source = taken.get(node.value.id)
                if source and node.attr not in names[source] and not node.attr.startswith("__"):
                    yield f"{path.relative_to(root)}:{node.lineno}: {source.name} has no {node.attr}"


def self_test():
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch)
        (root / "tests").mkdir()
        (root / "tests/one.py").write_text("import two\nfrom two import kept, gone\ntwo.kept()\ntwo.lost()\n")
        (root / "tests/two.py").write_text("if True:\n    def kept():\n        lost = 1\n")
        found = list(breaches(root))
    wanted = ["tests/one.py:2: two.py has no gone", "tests/one.py:4: two.py has no lost"]
    if found != wanted:
        print(found)
    return found != wanted


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    found = list(breaches(pathlib.Path(sys.argv[1])))
    print(*found, f"{len(found)} names that are not there", sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
