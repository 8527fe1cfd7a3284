"""Counts test cases and says which failed or were skipped, and why.

Reads Bazel's build events, which name the test.xml of every test that ran (or was cached), and
further JUnit files. Ends with "N passed, N failed[, N skipped]".
"""

import argparse
import collections
import json
import re
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree

WARNING = re.compile(r"^[^\s:]+:\d+:\d+: warning: .*$", re.MULTILINE)
BAZEL_TESTS_RAN = (0, 3)  # All passed; some failed.


class Results:
    def __init__(self):
        self.passed = 0
        self.failed = []  # Names.
        self.skipped = collections.defaultdict(list)  # (suite, reason) -> case names.
        self.warnings = set()  # Lines of compilers, also of those whose objects Bazel had already.

    def read_junit(self, path):
        """Adds the cases of one file; returns how many failed."""
        failed_before = len(self.failed)
        for case in ElementTree.parse(path).iter("testcase"):
            suite, name = case.get("classname", ""), case.get("name")
            full_name = f"{suite}.{name}" if suite else name
            skipped = case.find("skipped")
            if case.find("failure") is not None or case.find("error") is not None:
                self.failed.append(full_name)
            elif skipped is not None or case.get("result") == "skipped":
                reason = skip_reason(skipped)
                self.skipped[suite or name, reason].append(full_name)
            elif case.get("status") == "notrun":
                self.skipped[suite or name, "disabled"].append(full_name)
            else:
                self.passed += 1
        return len(self.failed) - failed_before

    def read_events(self, path):
        with open(path, encoding="utf-8") as file:
            for line in file:
                event = json.loads(line)
                self.warnings.update(WARNING.findall(event.get("progress", {}).get("stderr", "")))
                if "testResult" in event["id"]:
                    self.read_test(event["id"]["testResult"]["label"], event.get("testResult", {}))
                elif "targetCompleted" in event["id"]:
                    if not event.get("completed", {}).get("success"):
                        self.failed.append(event["id"]["targetCompleted"]["label"] + " (does not build)")

    def read_test(self, label, result):
        logs = [
            urllib.parse.unquote(urllib.parse.urlparse(output["uri"]).path)
            for output in result.get("testActionOutput", [])
            if output["name"] == "test.xml"
        ]
        failed = 0
        for log in logs:
            try:
                failed += self.read_junit(log)
            except (OSError, ElementTree.ParseError) as error:
                self.failed.append(f"{label} (no results: {error})")
                failed += 1
        if result.get("status") != "PASSED" and failed == 0:
            self.failed.append(f"{label} ({result.get('status')})")


def skip_reason(element):
    """The message of GTEST_SKIP, without the source position before it."""
    message = element.get("message") if element is not None else None
    if not message:
        return "no reason given"
    lines = message.strip().split("\n")
    return " ".join(lines[1:] if len(lines) > 1 else lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bazel-status", type=int, default=0)
    parser.add_argument("--no-warnings", action="store_true", help="a warning of the compiler is a failure")
    parser.add_argument("events")
    parser.add_argument("junit", nargs="*")
    args = parser.parse_args()

    results = Results()
    try:
        results.read_events(args.events)
    except (OSError, ValueError) as error:
        results.failed.append(f"bazel (no events: {error})")
    for path in args.junit:
        results.read_junit(path)
    if args.bazel_status not in BAZEL_TESTS_RAN and not results.failed:
        results.failed.append(f"bazel (exit status {args.bazel_status})")

    if args.no_warnings:
        results.failed += sorted(results.warnings)
        results.passed += not results.warnings

    print()
    for (suite, reason), names in sorted(results.skipped.items()):
        what = names[0] if len(names) == 1 else f"{suite}, {len(names)} cases"
        print(f"skipped: {what} ({reason})")
    for name in results.failed:
        print(f"failed: {name}")
    skipped = sum(map(len, results.skipped.values()))
    print(f"{results.passed} passed, {len(results.failed)} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if results.failed or results.passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
