"""Recorded launches of real kernels: the VM must give what was recorded.

    replay_test.py TILEVM DIFFERENCES CORPUS [OPTIONS OF REPLAY]

Runs every launch of CORPUS/runs by `tilevm replay --json`. Launches named in DIFFERENCES may differ within their bound;
all others must be equal to the last bit. Prints the counts.
"""

import collections
import fnmatch
import glob
import json
import subprocess
import sys


def read_differences(path, full):
    """Rows of (name, bound, cause); those of `full:` come first under full checks and are left out otherwise."""
    rows = []
    with open(path) as f:
        for line in f:
            if not line.strip() or line.startswith("#"):
                continue
            name, bound, cause = line.split(None, 2)
            if not name.startswith("full:"):
                rows.append((name, bound, cause))
            elif full:
                rows.insert(0, (name[5:], bound, cause))
    return rows


def acceptable(launch, rows):
    """None if the launch is as it must be, else what is wrong."""
    bounds = [bound for name, bound, _ in rows if fnmatch.fnmatchcase(launch["name"], name)]
    if launch["result"] == "equal":
        return None
    if not bounds:
        return "%s: %s" % (launch["result"], launch["first"])
    if bounds[0] == "-":
        return None if launch["result"] == "trapped" else "expected a trap, got " + launch["result"]
    if launch["result"] != "differs":
        return launch["result"]
    if bounds[0] == "nan":
        return None if launch["max_abs"] == 0 else "differs in values"
    if launch["max_abs"] is None or launch["max_abs"] > float(bounds[0]):
        return "differs by %s, more than %s" % (launch["max_abs"], bounds[0])
    return None


def main():
    tilevm, differences, corpus = sys.argv[1:4]
    names = sorted(glob.glob(corpus + "/runs/*.json"))
    if not names:
        sys.exit("no recorded launches in " + corpus)
    run = subprocess.run([tilevm, "replay", "--json", *sys.argv[4:], *names], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    launches = [json.loads(line) for line in run.stdout.splitlines()]
    rows = read_differences(differences, full="full" in sys.argv[4:])
    counts = collections.Counter(launch["result"] for launch in launches)
    bad = [(launch["name"], why) for launch in launches for why in [acceptable(launch, rows)] if why]
    for name, why in bad:
        print("%s: %s" % (name, why))
    print("%d launches: %s" % (len(names), ", ".join("%d %s" % (n, k) for k, n in counts.most_common())))
    if len(launches) != len(names):
        print(run.stderr[-3000:])
        sys.exit("%d launches did not run" % (len(names) - len(launches)))
    sys.exit(1 if bad else 0)


main()
