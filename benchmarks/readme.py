"""Put a report into README.md, between the markers of its section."""

from pathlib import Path

README = Path(__file__).with_name("README.md")


def write(section: str, text: str) -> None:
    """Replace what is between `<!-- section:begin -->` and `<!-- section:end -->`."""
    begin, end = f"<!-- {section}:begin -->", f"<!-- {section}:end -->"
    before, rest = README.read_text().split(begin)
    _, after = rest.split(end)
    README.write_text(f"{before}{begin}\n{text}\n{end}{after}")
