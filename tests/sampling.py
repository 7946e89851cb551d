"""Which cases of parametrised tests `make test` takes: a few of each, others at each run (`--sample`, `--draw`)."""

import hashlib
import zlib
from pathlib import Path

WHOLE_FILES = {
    *("tests/ops/test_table.py", "tests/ops/test_traits.py", "tests/ops/test_trait_behaviour.py"),
    "tests/fuzz/test_programs_agree.py",
}
"""Files in which each case is another op, whose rule nothing else may look at, or other programs: `--sample` takes all
of their cases, if it takes more than one of each (`make test`)."""

MOST_DRAWS = 20
"""`make test` has seen every case after so many draws: of tests with very many cases, it takes this part."""


def sample(ids: list[str], most: int, draw: int) -> list[str]:
    """Cases at equal distances, `most` of each test or one in MOST_DRAWS if that is more. Successive draws start at
    successive cases, from a place that differs from test to test, so that no draw takes much longer than another.

    >>> cases = [f"test_it[{k}]" for k in range(6)]
    >>> sample(cases, 2, 0), sample(cases, 2, 1), sample(cases, 2, 2)
    (['test_it[0]', 'test_it[3]'], ['test_it[1]', 'test_it[4]'], ['test_it[2]', 'test_it[5]'])
    """
    cases: dict[str, list[str]] = {}
    for one in ids:
        cases.setdefault(one.partition("[")[0], []).append(one)
    chosen = []
    for test, all in cases.items():
        distance = -(-len(all) // most)
        if most > 1:
            distance = 1 if test.partition("::")[0] in WHOLE_FILES else min(distance, MOST_DRAWS)
        chosen += all[(draw + zlib.crc32(test.encode())) % distance :: distance]
    return chosen


def digest_of_source() -> int:
    """A number made of what package and tests say: another for another commit, the same when one is run again."""
    root = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for path in sorted(path for folder in ("wengert", "tests") for path in (root / folder).rglob("*.py")):
        digest.update(path.read_bytes())
    return int.from_bytes(digest.digest()[:4])
