"""Is a schema compatible with a released one? Finds what `flatc --conform` does not: fields that are removed or renamed,
structs that grow or shrink, values of enumerations that are dropped or renumbered.

    conform.py RELEASED.fbs CURRENT.fbs

Prints one line for each problem; exit status 1 if there are any. What is allowed: new declarations, new fields at the end
of tables, new values of enumerations.
"""

import re
import sys


def declarations(path):
    """{"table Op": ["opcode:ushort", …]} of a schema."""
    text = re.sub(r"//[^\n]*", "", open(path, encoding="utf-8").read())
    found = {}
    for kind, name, base, body in re.findall(r"\b(table|struct|enum)\s+(\w+)\s*(:\s*\w+)?\s*\{([^}]*)\}", text):
        if kind == "enum":
            members, number = {}, -1
            for item in filter(None, (part.strip() for part in body.split(","))):
                value, _, explicit = (part.strip() for part in item.partition("="))
                number = int(explicit, 0) if explicit else number + 1
                members[value] = number
        else:
            members = ["".join(part.split()) for part in body.split(";") if part.strip()]
        found[f"{kind} {name}"] = ("".join(base.split()), members)
    for key in ("file_identifier", "root_type", "namespace"):
        found[key] = ("", re.findall(rf"\b{key}\s+([^;]+);", text))
    return found


def problems(released, current):
    for name, (base, members) in released.items():
        if name not in current:
            yield f"{name} is gone"
            continue
        new_base, new_members = current[name]
        if base != new_base:
            yield f"{name} is no longer of type {base}"
        if isinstance(members, dict):
            for value, number in members.items():
                if new_members.get(value) != number:
                    yield f"{name}: {value} = {number} is gone or has another number"
        elif name.startswith("table "):
            for i, field in enumerate(members):
                if i >= len(new_members) or new_members[i] != field:
                    yield f"{name}: field {field} is gone, moved or changed"
        elif members != new_members:
            yield f"{name} changed; it may never"


def main():
    released, current = (declarations(path) for path in sys.argv[1:3])
    if len(released) < 10:
        sys.exit(f"{sys.argv[1]}: no schema")
    found = list(problems(released, current))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
