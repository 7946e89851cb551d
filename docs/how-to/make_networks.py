"""The picture of `networks.md`: `python docs/how-to/make_networks.py` from the root of the repository.

It runs the first blocks of the page and draws the losses.
"""

import re
from pathlib import Path

FOLDER = Path(__file__).parent


def main():
    text = (FOLDER / "networks.md").read_text(encoding="utf-8")
    names = {"__name__": "page"}
    for block in re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)[:2]:
        exec(compile(block, "networks.md", "exec"), names)
    names["result"].curves(FOLDER / "networks-curves.svg")


if __name__ == "__main__":
    main()
