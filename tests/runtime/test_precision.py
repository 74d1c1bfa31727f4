"""bfloat16 only where it is faster, and 8 bits by instructions for them only where there are some."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from turnloom.runtime import onnx_backend
from turnloom.runtime.encoder import computes_bf16_fast
from turnloom.runtime.onnx_backend import has_vnni
from turnloom.training import load_recipe


def _cpu(monkeypatch: pytest.MonkeyPatch, **able: bool) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: able, raising=False)


@pytest.mark.parametrize(
    ("able", "fast"),
    [
        ({"avx512_f": True, "amx_bf16": True, "avx512_bf16": True}, True),
        ({"avx512_f": True, "avx512_bf16": True}, True),
        ({"avx512_f": True, "avx512_vnni": True, "avx512_bf16": False, "amx_bf16": False}, False),
        ({"neon": True}, False),
    ],
)
def test_a_cpu_without_its_instructions_computes_in_fp32(
    monkeypatch: pytest.MonkeyPatch, able: dict[str, bool], fast: bool
) -> None:
    _cpu(monkeypatch, **able)
    assert computes_bf16_fast() == fast
    assert load_recipe("dse").computes_in_bf16 == fast


def test_who_says_which_gets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    _cpu(monkeypatch)
    assert load_recipe("dse", {"bf16": "true"}).computes_in_bf16
    _cpu(monkeypatch, amx_bf16=True)
    assert not load_recipe("dse", {"bf16": "false"}).computes_in_bf16


def test_a_torch_that_cannot_tell_computes_in_fp32(monkeypatch: pytest.MonkeyPatch) -> None:
    _cpu(monkeypatch)
    monkeypatch.delattr(torch.cpu, "get_capabilities")
    assert not computes_bf16_fast()


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("processor\t: 0\nflags\t\t: fpu avx512f avx512_vnni\n\nprocessor\t: 1\nflags\t\t: fpu\n", True),
        ("flags\t\t: fpu avx2 avx_vnni sse\n", True),
        ("flags\t\t: fpu avx512f avx512_vnnix\nvmx flags\t: avx_vnni\n", False),
        ("Features\t: fp asimd\n", False),
        (None, False),
    ],
)
def test_vnni_is_read_from_the_processors_flags(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str | None, expected: bool
) -> None:
    monkeypatch.setattr(onnx_backend, "PROCESSOR", tmp_path / "cpuinfo")
    if told is not None:
        (tmp_path / "cpuinfo").write_text(told)
    assert has_vnni() == expected
