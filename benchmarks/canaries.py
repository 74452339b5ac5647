"""Planted values in all that leaves the library: `python -m benchmarks.canaries [--all]` prints cases and findings."""

import argparse
import collections
import time

from benchmarks._measure import show
from tests.data.canaries import Refused, every_case, findings, usual_cases


def main() -> None:
    """Run the cases of tests/promises/test_canaries.py and print the findings, by input and output."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="every combination, with three seeds")
    cases = list(every_case() if parser.parse_args().all else usual_cases())
    began, ran, refused = time.perf_counter(), collections.Counter(), collections.Counter()
    found: dict[str, list[str]] = {}
    for case in cases:
        way = f"{case.kind} to {case.target}" if case.target else case.kind
        ran[way] += 1
        try:
            found.setdefault(way, []).extend(findings(case))
        except Refused as sentence:
            refused[f"{way}: {sentence}"] += 1
        except Exception as error:
            found.setdefault(way, []).append(f"{type(error).__name__}: {error}")
    show("Cases", [{"input": way, "cases": n, "findings": len(found.get(way, []))} for way, n in ran.items()])
    for way, lines in found.items():
        for line in sorted(set(lines)):
            print(f"FOUND {way}: {line}")
    for sentence, count in refused.items():
        print(f"refused, {count}: {sentence}")
    total = sum(map(len, found.values()))
    print(f"{len(cases)} cases, {total} findings, {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
