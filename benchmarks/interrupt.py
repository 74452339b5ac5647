"""Seconds from Ctrl-C until the caller has its KeyboardInterrupt, and until the process is gone:

python -m benchmarks.interrupt [job …]
"""

import signal
import subprocess
import sys
import time

from benchmarks._measure import show, words

JOBS = {
    "anneal": "mag.multivariate(few, 5, method='anneal', iterations=1e6)",
    "bound lp": "mag.multivariate(few, 10, method='zscore', bound='lp')",
    "cbfs_order": "mag.multivariate(many, 5, method='cbfs_order')",
    "dba": "mag.multivariate(many, 5, method='dba')",
    "kmeans_cleanup": "mag.multivariate(many, 5, method='kmeans_cleanup')",
    "lmas": "mag.multivariate(many, 5, method='lmas')",
    "matching": "mag.multivariate(few, 2, method='matching')",
    "md": "mag.multivariate(many, 5, method='md')",
    "mona": "mag.multivariate(million, 5, method='mona')",
    "mondrian": "mag.multivariate(million, 5, method='mondrian')",
    "mst": "mag.multivariate(million, 5, method='mst')",
    "nearest_neighbor": "mag.multivariate(million, 5, method='nearest_neighbor')",
    "npn": "mag.multivariate(million, 5, method='npn')",
    "ona_star": "mag.multivariate(many, 5, method='ona_star')",
    "pcl": "mag.multivariate(million, 5, method='pcl')",
    "projection": "mag.multivariate(million, 5, method='projection')",
    "quadratic": "mag.univariate(column[:300_000], 5, solver='quadratic')",
    "strata": "mag.microaggregate({'g': many[:, 0] > 0, 'a': many[:, 1], 'b': many[:, 2]}, 5, ['a', 'b'], by='g', "
    "method='cbfs_order')",
    "tsp": "mag.multivariate(many, 5, method='tsp')",
    "univariate": "mag.univariate(column, 40, solver='simple', threads=1)",
}
CODE = """
import signal, numpy as np, mag
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell may have set aside in the background
def run(n_few, n_many, n_million, n_column):
    rng = np.random.default_rng(0)
    few, many, million = (rng.normal(size=(n, 4)) for n in (n_few, n_many, n_million))
    column = rng.random(n_column)
    if n_column > 5000:
        print("begins", flush=True)
    JOB
try:
    run(60, 60, 60, 5000)  # which compiles
    run(1500, 60_000, 1_000_000, 20_000_000)
except KeyboardInterrupt:
    print("interrupted", flush=True)
else:
    print("ended by itself", flush=True)
"""


def interrupt(job: str, after: float = 0.5, limit: float = 120.0) -> tuple[str, str, float, float]:
    """What a process that is interrupted at its work says on both streams, and the seconds until then and its end."""
    command = [sys.executable, "-c", CODE.replace("JOB", JOBS[job])]  # eval would change the exit code of Python 3.11
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout.readline() != "begins\n":
                return "did not begin", process.communicate(timeout=limit)[1], 0.0, 0.0
            time.sleep(after)
            process.send_signal(signal.SIGINT)
            began = time.perf_counter()
            said = process.stdout.readline()
            told = time.perf_counter() - began
            errors = process.communicate(timeout=limit)[1]
        finally:
            process.kill()
    return said.strip(), f"{errors}{process.returncode or ''}", told, time.perf_counter() - began


def main() -> None:
    """Print a line per job."""
    rows = []
    for job in words(__doc__, choices=JOBS) or JOBS:
        said, errors, told, gone = interrupt(job)
        rows.append(
            {"job": job, "result": said or errors.strip().splitlines()[-1], "caller, s": told, "process, s": gone}
        )
    show("Ctrl-C", rows)


if __name__ == "__main__":
    main()
