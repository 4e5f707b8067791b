"""The README's Python runs from top to bottom and prints what it says."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
EXAMPLE = re.compile(r"```python\n(.*?)```\s+```text\n(.*?)```", re.DOTALL)


@pytest.mark.slow
def test_examples_print_what_the_readme_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text, names = README.read_text(encoding="utf-8"), {}
    examples = EXAMPLE.findall(text)
    assert len(examples) == text.count("```python")
    for code, printed in examples:
        exec(code, names)
        assert capsys.readouterr().out.strip() == printed.strip()
