"""The examples end at the same picosecond as those in Rust, whose times they assert; and the docstrings are true."""

import doctest
import runpy
from pathlib import Path

import pytest

import loggp

ROOT = Path(__file__).parents[2]
# The package's sources alone have neither the examples of Rust nor the documents.
in_repository = pytest.mark.skipif(not (ROOT / "docs/start/python.md").exists(), reason="it compares with the repository")

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(path), run_name="__main__")
    assert "take" in capsys.readouterr().out or path.stem in ("lost_key", "sample_sort")


@in_repository
def test_every_example_of_rust_is_there() -> None:
    rust = {path.stem for path in (ROOT / "examples").glob("*.rs")}
    # `messages` measures the computer, as `benches/message.py` does here.
    assert {path.stem for path in EXAMPLES} == rust - {"messages"}


def test_docstrings_are_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tested = 0

    objects = [(loggp, "loggp")]
    for name in loggp.__all__:
        thing = getattr(loggp, name)
        objects.append((thing, name))
        if isinstance(thing, type):
            objects += [(getattr(thing, member), f"{name}.{member}") for member in vars(thing)]
    for thing, name in objects:
        text = getattr(thing, "__doc__", None)
        if not isinstance(text, str) or ">>>" not in text:
            continue
        example = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
        result = doctest.DocTestRunner(verbose=False).run(example)
        assert result.failed == 0, name
        tested += result.attempted
    assert tested > 25


@in_repository
def test_document_is_true() -> None:
    document = ROOT / "docs" / "start" / "python.md"
    example = doctest.DocTestParser().get_doctest(
        document.read_text().replace("```", "\n"), {}, str(document), str(document), 0
    )
    result = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(example)
    assert result.failed == 0 and result.attempted > 15


def test_everything_is_named_and_documented() -> None:
    for name in loggp.__all__:
        thing = getattr(loggp, name)
        if not isinstance(thing, type):
            continue
        assert thing.__doc__, name
        for member, value in vars(thing).items():
            if not member.startswith("_") and member != "KINDS":
                assert value.__doc__, f"{name}.{member}"
