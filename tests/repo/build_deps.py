"""The deps of every C++ target are what its sources include: nothing is missing (which a build does not see as long as another
dependency brings it along), nothing is left over. What is linked and not included has a comment:

    deps = [
        "//codegen/library:tilec_library",  # linked, not included
    ],

BUILD files are read by running them as Python with rules that take notes; .bzl files, too. Targets that one call in a BUILD
file makes, as a macro does, are judged as one."""

import ast
import builtins
import collections
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')
LINKED = re.compile(r'"([^"]+)",\s*# linked, not included')
COMPILED = {"cc_library", "cc_binary", "cc_test"}
# Headers of packages outside of the repository.
OUTSIDE = [(re.compile(pattern), labels) for pattern, labels in [
    (r"absl/", {"//third_party/absl"}),
    (r"g(test|mock)/", {"//third_party/gtest"}),
    (r"benchmark/", {"//third_party/benchmark"}),
    (r"flatbuffers/", {"//third_party/flatbuffers"}),
    (r"llvm(-c)?/", {"@llvm//:llvm", "@llvm//:headers"}),
    (r"mpfr\.h$", {"//third_party/mpfr"}),
    (r"png\.h$", {"//third_party/png"}),
    (r"sleef\.h$", {"//third_party/sleef"}),
    (r"zlib\.h$", {"//third_party/zlib"}),
]]


class Select(list):
    """Of the values of a select() all, whatever the configuration."""

    def __add__(self, other):
        return Select(list(self) + list(other))

    def __radd__(self, other):
        return Select(list(other) + list(self))


class Rule:
    """A target as it was declared: `values` are its arguments, `line` is that of the call in the BUILD file."""

    def __init__(self, kind, package, line, values):
        self.kind, self.package, self.line, self.values = kind, package, line, values
        self.label = absolute(":" + values["name"], package)

    def labels(self, *names):
        return [absolute(v, self.package) for name in names for v in self.values.get(name) or [] if isinstance(v, str)]


class Anything:
    """What .bzl files ask of Bazel when they define rules."""

    def __getattr__(self, _):
        return Anything()

    def __call__(self, *_, **__):
        return Anything()


def absolute(label, package):
    """//a/b:c, and //a/b for //a/b:b."""
    if label.startswith("@"):
        return label
    if not label.startswith("//"):
        label = f"//{package}:{label.removeprefix(':')}"
    package, _, name = label[2:].partition(":")
    return f"//{package}" if name in ("", package.rsplit("/", 1)[-1]) else f"//{package}:{name}"


def path_of(label):
    package, _, name = label[2:].partition(":")
    return "/".join(filter(None, [package, name or package.rsplit("/", 1)[-1]]))


class Foreign(str):
    """What another repository defines: a text, or a rule whose targets nothing here names."""

    def __call__(self, *_, **__):
        return None


class Build:
    """One BUILD file, run."""

    def __init__(self, root, name, names, rules):
        self.root, self.package, self.names, self.rules = root, str(pathlib.PurePath(name).parent).removeprefix("."), names, rules
        self.file = name
        native = type("Native", (), {"__getattr__": lambda _, kind: self.recorder(kind)})()
        self.environment = {"native": native}
        self.run(name)

    def recorder(self, kind):
        def record(*_, **values):
            if "name" not in values:
                return
            frame = sys._getframe(1)
            while frame.f_code.co_filename != self.file:
                frame = frame.f_back
            self.rules.append(Rule(kind, self.package, frame.f_lineno, values))
        return record

    def glob(self, patterns, exclude=()):
        inside = [n[len(self.package) + 1:] for n in self.names if n.startswith(self.package + "/")]
        return [n for n in inside if any(pathlib.PurePath(n).match(p) and n.count("/") == p.count("/") for p in patterns)
                and not any(pathlib.PurePath(n).match(p) for p in exclude)]

    def load(self, label, *names, **_):
        package, _, base = label.partition(":")
        if label.startswith("@"):
            values = {name: Foreign() for name in names}
        else:
            values = self.run(f"{package[2:] or self.package}/{base}")
        self.environment.update({name: values[name] for name in names})

    def run(self, name):
        environment = Environment(self)
        environment.update(self.environment)
        if name == self.file:
            self.environment = environment
        exec(compile((self.root / name).read_text(encoding="utf-8"), name, "exec"), environment)
        return environment


class Environment(dict):
    """The names that a BUILD file finds; what is unknown is a rule."""

    def __init__(self, build):
        super().__init__(
            vars(builtins), glob=build.glob, load=build.load, select=lambda d: Select(v for values in d.values() for v in values),
            rule=lambda **_: build.recorder("rule"), repository_rule=lambda **_: build.recorder("rule"), struct=Anything(),
            provider=Anything(), transition=Anything(), attr=Anything(), config=Anything(), depset=Anything(),
            package=lambda **_: None, package_group=lambda **_: None, exports_files=lambda *_, **__: None)
        self.build = build

    def __missing__(self, kind):
        return self.build.recorder(kind)


class Repository:
    def __init__(self, root, texts):
        self.texts, self.rules, self.linked = texts, [], {}
        builds = [n for n in texts if n.rsplit("/", 1)[-1] == "BUILD.bazel"]
        for name in builds:
            Build(root, name, list(texts), self.rules)
            self.linked[name] = list(linked_lines(texts[name]))
        self.by_label = {r.label: r for r in self.rules}
        self.owners = collections.defaultdict(set)  # of a header, as it is included
        for rule in self.rules:
            if rule.kind in COMPILED:
                for path in self.files(rule.labels("hdrs", "textual_hdrs")):
                    self.owners[path].add(rule.label)
                    for folder in rule.values.get("includes") or []:
                        root = (pathlib.PurePath(rule.package) / folder).as_posix()
                        self.owners[path.removeprefix(root + "/")].add(rule.label)

    def files(self, labels):
        """Paths of the files that labels stand for, through filegroups and genrules."""
        for label in labels:
            rule = self.by_label.get(label)
            if rule is None:
                yield path_of(label)
            elif rule.kind in ("filegroup", "genrule"):
                yield from self.files(rule.labels("srcs" if rule.kind == "filegroup" else "outs"))

    def owners_of(self, included, file):
        """The labels that offer a header; None if it is nobody's in particular."""
        for pattern, labels in OUTSIDE:
            if pattern.match(included):
                return labels
        beside = str(pathlib.PurePath(file).parent / included)
        return self.owners.get(included) or self.owners.get(beside)


def linked_lines(lines):
    for number, line in enumerate(lines, 1):
        if match := LINKED.search(line):
            yield number, match.group(1)


def calls(lines):
    """First line → last line of what stands at the top of a BUILD file."""
    return {node.lineno: (statement.lineno, statement.end_lineno) for statement in ast.parse("\n".join(lines)).body
            for node in ast.walk(statement) if isinstance(node, ast.Call)}


def problems_of(repository, build, line, rules):
    """Of the targets that one call made."""
    package, own = rules[0].package, {r.label for r in rules}
    private = set(repository.files(label for r in rules for label in r.labels("srcs", "hdrs", "textual_hdrs")))
    deps = {d for r in rules for d in r.labels("deps")} - own
    first, last = calls(repository.texts[build]).get(line, (line, line))
    linked = {absolute(label, package) for number, label in repository.linked[build]
              if first <= number <= last or not any(a <= number <= b for a, b in calls(repository.texts[build]).values())}
    used, missing = set(), {}
    for file in private:
        for text in repository.texts.get(file, []):
            if not (match := INCLUDE.match(text)):
                continue
            owners = repository.owners_of(match.group(1), file)
            if owners is None or owners & own or match.group(1) in private:
                continue
            if owners & deps:
                used |= owners & deps
            else:
                missing.setdefault(min(owners), match.group(1))
    name = rules[0].values["name"]
    for label, header in sorted(missing.items()):
        yield f"{build}:{line}: {name}: includes {header}, but does not depend on {label}"
    if not private or not private <= repository.texts.keys():
        return  # What is generated cannot be read here.
    for label in sorted(deps - used - linked):
        rule = repository.by_label.get(label)
        if rule is None or rule.values.get("hdrs") or rule.package.startswith("third_party") and not rule.values.get("alwayslink"):
            yield f"{build}:{line}: {name}: depends on {label}, of which it includes nothing (or write: # linked, not included)"


def deps_are_what_is_included(root, files):
    repository = Repository(root, dict(files))
    made = collections.defaultdict(list)
    for rule in repository.rules:
        if rule.kind in COMPILED and not rule.package.startswith("third_party"):
            made[rule.package, rule.line].append(rule)
    for (package, line), rules in sorted(made.items()):
        yield from problems_of(repository, f"{package}/BUILD.bazel".removeprefix("/"), line, rules)
