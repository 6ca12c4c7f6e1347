"""Tests of counting with the real runners of other languages, where they are installed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from pi_batch.protocols import Judgement
from pi_batch.verifiers.command import Command
from tests.verifiers.rigs import check, context

pytestmark = [pytest.mark.peer, pytest.mark.slow]

CARGO = """/// ```
/// assert_eq!(calc::add(1, 2), 3);
/// ```
pub fn add(a: u64, b: u64) -> u64 { a + b }

#[cfg(test)]
mod tests {
    #[test]
    fn adds() { assert_eq!(super::add(2, 2), 4); }
    #[test]
    #[ignore = "slow"]
    fn slow() {}
    #[test]
    #[should_panic]
    fn panics() { panic!() }
}
"""
GO = """package x

import "testing"

func TestAdd(t *testing.T) { t.Run("zero case", func(t *testing.T) {}) }
func TestSkip(t *testing.T) { t.Skip("x") }
"""


async def judged(tmp_path: Path, run: str, files: Mapping[str, str]) -> Judgement:
    for name, text in files.items():
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    async with context(tmp_path) as at:
        env = {**at.env, "PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
        return await Command().verify(check(run, timeout_s=110), replace(at, env=env))


@pytest.mark.skipif(shutil.which("cargo") is None, reason="needs cargo")
async def test_cargo_is_counted_with_names(tmp_path: Path) -> None:
    manifest = '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n'
    found = await judged(tmp_path, "cargo test --offline", {"Cargo.toml": manifest, "src/lib.rs": CARGO})
    assert found.result.passed, found.result.message
    (cargo,) = found.evidence
    assert (cargo.executed, cargo.skipped, cargo.skipped_names) == (3, 1, ("tests::slow",))
    assert cargo.executed_names == ("src/lib.rs - add (line 1)", "tests::adds", "tests::panics")


@pytest.mark.skipif(shutil.which("go") is None, reason="needs go")
@pytest.mark.parametrize("run", ["go test ./...", "go test -json ./..."])
async def test_go_is_counted_with_names(tmp_path: Path, run: str) -> None:
    files = {"go.mod": "module x\n\ngo 1.18\n", "a.go": "package x\n", "a_test.go": GO}
    found = await judged(tmp_path, run, files)
    assert found.result.passed, found.result.message
    (go,) = found.evidence
    assert (go.executed_names, go.skipped_names) == (("TestAdd", "TestAdd/zero_case"), ("TestSkip",))


@pytest.mark.skipif(shutil.which("go") is None, reason="needs go")
async def test_go_without_tests_is_an_empty_check(tmp_path: Path) -> None:
    found = await judged(tmp_path, "go test ./...", {"go.mod": "module x\n", "a.go": "package x\n"})
    assert not found.result.passed
    assert "go found no test to run" in found.result.message


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
async def test_a_node_program_is_run_as_it_is(tmp_path: Path) -> None:
    found = await judged(tmp_path, "node a.js", {"a.js": "console.log('hello')\n"})
    assert found.result.passed
    assert found.evidence == ()
