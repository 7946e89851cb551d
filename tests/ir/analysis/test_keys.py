"""Keys of blocks: equal structure, equal number, whatever the names of values."""

from wengert.ir.analysis.keys import BlockNumbers
from wengert.ir.parse import parse

SOURCE = """
program f(%x: f64, %p: bool) {{
  %y: f64 = cond %p {{
    given %x
    then {{
      %a: f64 = {first}(%x)
      return %a
    }}
    else {{
      %b: f64 = {second}(%x)
      return %b
    }}
  }}
  return %y
}}
"""


def block(first, second):
    return parse(SOURCE.format(first=first, second=second)).block


def test_blocks_of_the_same_structure_have_the_same_number():
    numbers = BlockNumbers()
    blocks = [block("sin", "cos"), block("sin", "cos"), block("cos", "sin"), block("sin", "sin")]
    found = [numbers.of(b) for b in blocks]
    assert found[0] == found[1]
    assert len(set(found)) == 3
    then, orelse = blocks[3].nodes[0].params["then"], blocks[3].nodes[0].params["orelse"]
    assert numbers.of(then) == numbers.of(orelse)
    assert [numbers.of(b) for b in blocks] == found
