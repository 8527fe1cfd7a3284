"""pytest plugin for suites of others: a limit of seconds for each case, shards, a sample, and a line of JSON for each outcome.

    SUITE_OUT=FILE        outcomes are appended: {"id", "outcome", "seconds", "error"}; "started" before each case
    SUITE_EXCLUDED=FILE   lines `PATTERN  # reason`: cases that are not run
    SUITE_SHARD=I/N       every Nth function of the tests, from I on
    SUITE_SAMPLE=N        at most N cases of each function, the same in every run
    SUITE_SMALLEST=1      … those whose numbers are the smallest, multiplied with each other
    SUITE_SECONDS=S       for each case; default 60
"""
import fnmatch
import json
import os
import random
import signal

import pytest

OUT = os.environ.get("SUITE_OUT", "")
SECONDS = int(os.environ.get("SUITE_SECONDS", "60"))


class Late(BaseException):
    """The case took too long. No Exception, so that tests that expect one do not catch it."""


def read_patterns(path):
    """(pattern, reason) of a file of exclusions."""
    found = []
    with open(path) as file:
        for line in file:
            pattern, _, reason = line.partition("#")
            if pattern.strip():
                found.append((pattern.strip(), reason.strip()))
    return found


def excluded_by(patterns, name):
    """The reason, or None. Brackets of ids are meant as they are."""
    for pattern, reason in patterns:
        if fnmatch.fnmatchcase(name, pattern.replace("[", "[[]")):
            return reason
    return None


def write(**line):
    if OUT:
        with open(OUT, "a") as file:
            file.write(json.dumps(line) + "\n")


def done_before():
    """Ids that an earlier process of this run has begun: one that ended it is not tried again."""
    if not OUT or not os.path.exists(OUT):
        return set()
    with open(OUT) as file:
        return {json.loads(line)["id"] for line in file}


def numbers_in(value):
    """Those of a parameter: sizes, shapes, lists of them."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (tuple, list)):
        return []
    return [number for item in value for number in numbers_in(item)]


def size_of(item):
    """About how much a case has to do."""
    size = 1
    for number in numbers_in(getattr(item, "callspec", None) and item.callspec.params or {}):
        size *= max(number, 1)
    return size


def sample_of(members, count):
    """So many of the cases of a function, in their order."""
    drawn = random.Random(1)
    if os.environ.get("SUITE_SMALLEST"):  # chance decides among those of a size, so that types differ
        kept = set(sorted(range(len(members)), key=lambda j: (size_of(members[j]), drawn.random()))[:count])
    else:
        kept = set(drawn.sample(range(len(members)), count))
    return [m for j, m in enumerate(members) if j in kept]


def pytest_collection_modifyitems(config, items):
    patterns = read_patterns(os.environ["SUITE_EXCLUDED"]) if os.environ.get("SUITE_EXCLUDED") else []
    groups = {}
    for item in items:
        groups.setdefault((item.location[0], getattr(item, "originalname", item.name)), []).append(item)
    shard, shards = map(int, os.environ.get("SUITE_SHARD", "0/1").split("/"))
    sample = int(os.environ.get("SUITE_SAMPLE", "0"))
    begun = done_before()
    chosen = []
    for i, (_, members) in enumerate(groups.items()):
        if i % shards != shard:
            continue
        if sample and len(members) > sample:
            members = sample_of(members, sample)
        for item in members:
            reason = excluded_by(patterns, item.nodeid)
            if reason is not None and item.nodeid not in begun:
                write(id=item.nodeid, outcome="excluded", seconds=0, error=reason)
            elif item.nodeid not in begun:
                chosen.append(item)
    config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
    items[:] = chosen


def pytest_runtest_logstart(nodeid, location):
    write(id=nodeid, outcome="started", seconds=0, error="")


def _alarm(*unused):
    raise Late(f"more than {SECONDS} s")


def pytest_runtest_setup(item):
    signal.signal(signal.SIGALRM, _alarm)
    signal.alarm(SECONDS)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item, call):
    """A report of pytest's that the alarm interrupts ends all cases."""
    if call.when == "call" or call.excinfo is not None:
        signal.alarm(0)


def pytest_runtest_teardown(item):
    signal.alarm(0)


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        error = ""
        if report.outcome == "failed":
            crash = getattr(report.longrepr, "reprcrash", None)
            place = f"{crash.path}:{crash.lineno}: {crash.message}" if crash else str(report.longrepr)
            error = place[:1500]
        elif report.outcome == "skipped":
            error = str(report.longrepr[-1] if isinstance(report.longrepr, tuple) else getattr(report, "wasxfail", ""))[:200]
        outcome = report.outcome if not hasattr(report, "wasxfail") or report.outcome == "failed" else "xfailed"
        write(id=report.nodeid, outcome=outcome, seconds=round(report.duration, 2), error=error)
