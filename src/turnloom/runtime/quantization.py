"""Quantise matrices to 8 bits with fixed ranges: a text's vector does not depend on what else is in the batch.

onnxruntime's own dynamic quantisation rounds all activations of a batch by one range: a single unusual token makes all
other texts coarser (cosines down to 0.97 between a text alone and in a batch). Here, ranges are measured on calibration
texts. A few channels of a transformer's activations are a hundred times as large as the others. They are scaled down,
and their matrix rows up, before either is rounded (SmoothQuant, arXiv:2211.10438, equation 4).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor, nn

SHARE = 0.7
"""How much of the difficulty moves from activations to a matrix (the paper's alpha).

0.5 helps little here. Choosing the best value for each matrix by its rounding error on the calibration texts gives the
same mean cosine on other texts and a lower minimum.
"""
LEAST = 1e-5
ROWS = 8
Batch = dict[str, Any]


def calibration_texts() -> list[str]:
    """Return turns as customers and agents write them, single and joined."""
    turns = files("turnloom.runtime").joinpath("calibration.txt").read_text(encoding="utf-8").splitlines()
    threes = [" ".join(turns[start : start + 3]) for start in range(0, len(turns) - 3, 4)]
    eights = [" ".join(turns[start : start + 8]) for start in range(0, len(turns) - 8, 9)]
    return [*turns, *threes, *eights]


def calibration_batches(
    tokenizer: Any, inputs: Sequence[str], max_length: int, texts: Sequence[str], *, pairs: bool
) -> list[Batch]:
    """Tokenize texts, or each text together with the next one."""
    batches = []
    for start in range(0, len(texts), ROWS):
        rows = list(texts[start : start + ROWS])
        second = [*rows[1:], texts[0]] if pairs else None
        tokens = tokenizer(
            rows,
            second,
            padding=True,
            truncation="longest_first",
            max_length=max_length,
            return_tensors="pt",
            return_token_type_ids=True,
        )
        batches.append({name: tokens[name] for name in inputs})
    return batches


def smooth(graph: nn.Module, batches: Sequence[Batch]) -> None:
    """Even out the input channels of every matrix over tokens, in place; the graph's output stays the same.

    Matrices with the same input (queries, keys and values) share their scales, so that it is scaled and rounded once.
    """
    import torch

    for names, largest in _largest_inputs(graph, batches).items():
        linears: list[Any] = [graph.get_submodule(name) for name in names]
        weights = torch.stack([linear.weight.detach().abs().amax(0) for linear in linears]).amax(0).clamp(min=LEAST)
        scale = largest.clamp(min=LEAST) ** SHARE / weights ** (1 - SHARE)
        scale /= scale.mean()
        inverse = 1 / scale
        for name, linear in zip(names, linears, strict=True):
            parent, _, own = name.rpartition(".")
            setattr(graph.get_submodule(parent), own, _smoothed(linear, scale, inverse))


def _smoothed(linear: nn.Linear, scale: Tensor, inverse: Tensor) -> nn.Module:
    from torch import nn

    class Smoothed(nn.Module):
        inverse: Tensor

        def __init__(self) -> None:
            super().__init__()
            self.linear = linear
            self.linear.weight.data *= scale
            self.register_buffer("inverse", inverse)

        def forward(self, states: Tensor) -> Tensor:
            found: Tensor = self.linear(states * self.inverse)
            return found

    return Smoothed()


def _largest_inputs(graph: nn.Module, batches: Sequence[Batch]) -> dict[tuple[str, ...], Tensor]:
    """Return the largest magnitude of each input channel of linear layers over tokens, by the layers that share it."""
    import torch
    from torch import nn

    seen: dict[int, tuple[Tensor, list[str]]] = {}  # Keep the states alive, so that no others reuse their id.
    largest: dict[tuple[str, ...], Tensor] = {}

    def note(name: str, states: Tensor) -> None:
        if states.dim() == 3:  # Layers after pooling run once per text and stay in full precision.
            seen.setdefault(id(states), (states, []))[1].append(name)

    hooks = [
        module.register_forward_pre_hook(lambda _, given, name=name: note(name, given[0]))
        for name, module in graph.named_modules()
        if isinstance(module, nn.Linear)
    ]
    with torch.no_grad():
        for batch in batches:
            graph(*batch.values())
            for states, names in seen.values():
                found = states.abs().flatten(0, 1).amax(0)
                largest[tuple(names)] = torch.maximum(largest.get(tuple(names), found), found)
            seen.clear()
    for hook in hooks:
        hook.remove()
    return largest


def quantize(path: Path, batches: Sequence[Batch]) -> None:
    """Write a graph's matrices over tokens in 8 bits: one scale per column, and one fixed range per input.

    Word embeddings stay in full precision: lookups are free, and rounding them costs the most accuracy.
    """
    import onnx
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

    whole = onnx.load(str(path))
    # Infer intermediate shapes again: onnxruntime fails on the exporter's.
    del whole.graph.value_info[:]
    constants = {constant.name for constant in whole.graph.initializer}
    attention = [node.name for node in whole.graph.node if node.op_type == "MatMul" and not constants & set(node.input)]

    class Reader(CalibrationDataReader):  # type: ignore[misc, unused-ignore]
        def __init__(self) -> None:
            self._rest: Iterator[Batch] = iter(batches)

        def get_next(self) -> dict[str, Any] | None:
            batch = next(self._rest, None)
            return None if batch is None else {name: tokens.numpy() for name, tokens in batch.items()}

    quantize_static(
        whole,
        str(path),
        Reader(),
        quant_format=QuantFormat.QDQ,
        per_channel=True,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
        op_types_to_quantize=["MatMul"],
        nodes_to_exclude=attention,
        extra_options={"OpTypesToExcludeOutputQuantization": ["MatMul"]},
    )
