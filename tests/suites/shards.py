"""Runs a suite of others in several processes of pytest with suite_plugin.py, and says what came out.

    run_shards(start, jobs, out)      # start(shard) starts the process whose outcomes are out/outcomes.SHARD.jsonl
    share = report(out, seconds)
"""
import collections
import json
import re
import time


def read(path):
    """The last outcome of each id."""
    found = {}
    if path.exists():
        for line in path.read_text().splitlines():
            entry = json.loads(line)
            found[entry["id"]] = entry
    return found


def run_shards(start, jobs, out):
    """Each until it ends by itself: what ended a process is a failure, and the rest goes on in a new one. start(shard) gives the process."""
    running = {shard: start(shard) for shard in range(jobs)}
    while running:
        time.sleep(1)
        for shard, process in list(running.items()):
            if process.poll() is None:
                continue
            del running[shard]
            path = out / f"outcomes.{shard}.jsonl"
            broken = [entry for entry in read(path).values() if entry["outcome"] == "started"]
            if process.returncode not in (0, 1, 2, 5) and broken:
                with open(path, "a") as file:
                    for entry in broken:
                        error = f"the process ended with status {process.returncode}"
                        file.write(json.dumps({**entry, "outcome": "failed", "error": error}) + "\n")
                running[shard] = start(shard)


def report(out, seconds, apart=()):
    """Prints counts and failures, and returns the share that passed. `apart`: (what, pattern of errors) of failures that are counted for
    themselves and are not part of the share."""
    entries = {}
    for path in sorted(out.glob("outcomes.*.jsonl")):
        entries.update(read(path))
    for entry in entries.values():
        if entry["outcome"] == "failed" and "suite_plugin.Late" in entry["error"]:
            entry["outcome"] = "late"
        for what, pattern in apart:
            if entry["outcome"] == "failed" and re.search(pattern, entry["error"]):
                entry["outcome"] = what
    count = collections.Counter(entry["outcome"] for entry in entries.values())
    ran = count["passed"] + count["failed"] + count["xfailed"]
    lines = [f"{len(entries)} ids: {count['passed']} passed, {count['failed']} failed, {count['xfailed']} failed as the suite expects, "
             f"{count['skipped']} skipped by the suite, {count['excluded']} excluded, {count['late']} took too long; "
             f"{seconds / 60:.0f} minutes"]
    lines += [f"{count[what]} {what}" for what, _ in apart]
    share = (count["passed"] + count["xfailed"]) / ran if ran else 0
    lines.append(f"{share:.2%} of {ran} that ran to their end passed")
    for entry in sorted(entries.values(), key=lambda e: e["id"]):
        if entry["outcome"] in ("failed", "late", *(what for what, _ in apart)):
            first = entry["error"].splitlines()[0] if entry["error"] else ""
            lines.append(f"{entry['outcome'].upper()} {entry['id']}: {first[:300]}")
    (out / "report.txt").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    return share
