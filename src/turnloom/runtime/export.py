"""Export encoders with their heads, and cross-encoders, to ONNX, in full precision or in 8 bits."""

from __future__ import annotations

import importlib.util
import logging
import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from turnloom.errors import TurnloomError
from turnloom.files import WholeFolder, refuse_other_files
from turnloom.runtime.context_format import FILE as CONTEXT
from turnloom.runtime.conversation import ConversationEncoder
from turnloom.runtime.conversation_folder import export_conversation
from turnloom.runtime.encoder import SentenceTransformerEncoder, frozen_class, is_static, load_encoder
from turnloom.runtime.model_folder import CONVERSATION, NOT_THE_MODEL, folder_fingerprint
from turnloom.runtime.onnx_backend import GRAPH, SPEC, ExportSpec
from turnloom.runtime.protocols import Encoder, Scorer, turn_encoder, unit_rows
from turnloom.runtime.quantization import calibration_batches, calibration_texts, quantize, smooth
from turnloom.runtime.reranker import export_reranker
from turnloom.runtime.scorer import CrossEncoderScorer, is_cross_encoder, load_scorer

if TYPE_CHECKING:
    from torch import Tensor, nn

QUERY, DOCUMENT = ("query",), ("document", "passage", "corpus")
"""The prompt names that sentence-transformers tries for each side, in this order."""


def export_model(
    folder: Path, out: Path, *, int8: bool = False, calibration: Sequence[str] | None = None
) -> ExportSpec:
    """Export a model to an ONNX graph that `load_encoder` or `load_scorer` reads without torch.

    Args:
        folder: The folder of a SentenceTransformer or CrossEncoder.
        out: The export's folder.
        int8: Whether to store matrices in 8 bits, with one scale per column; their inputs are then rounded too.
        calibration: For `int8`, texts like those you will encode; by default some English service messages.

    Raises:
        TurnloomError: If the extra is missing, `folder` contains no such model, or `out` contains other files.
    """
    missing = [name for name in ("onnx", "onnxruntime", "onnxscript") if importlib.util.find_spec(name) is None]
    if missing:
        raise TurnloomError(f"exporting needs {', '.join(missing)}", "pip install 'turnloom[onnx]'")
    refuse_other_files(out, "an export", beside=NOT_THE_MODEL)  # Fail before minutes of work.
    if (folder / SPEC).exists():
        raise TurnloomError(f"{folder} is an export already", "export the model that it was made of")
    if frozen_class(folder) is not None:
        raise TurnloomError(f"{folder} cannot be exported: it is computed by NumPy, without torch", "serve it as it is")
    spec, graph, tokenizer = _scorer(folder) if is_cross_encoder(folder) else _encoder(folder)
    spec = spec.model_copy(update={"precision": "int8" if int8 else "fp32"})
    whole = WholeFolder(out, SPEC, "an export", beside=NOT_THE_MODEL)
    batches = []
    if int8:
        texts = calibration or calibration_texts()
        batches = calibration_batches(tokenizer, spec.inputs, spec.max_length, texts, pairs=spec.kind == "scorer")
        smooth(graph, batches)
    with _quietly():
        _write_graph(graph, spec, whole.new / GRAPH)
        if int8:
            quantize(whole.new / GRAPH, batches)
    tokenizer.save_pretrained(str(whole.new))
    if (folder / CONVERSATION).exists():
        whole_model = load_encoder(folder)
        assert isinstance(whole_model, ConversationEncoder)
        with _quietly():
            export_conversation(whole_model, whole.new, stands_for=not int8)
            if whole_model.reranker is not None:
                export_reranker(whole_model, whole.new)
    if (folder / CONTEXT).exists():
        shutil.copyfile(folder / CONTEXT, whole.new / CONTEXT)
    (whole.new / SPEC).write_text(spec.model_dump_json(indent=2) + "\n", encoding="utf-8")
    whole.commit()
    return spec


def _encoder(folder: Path) -> tuple[ExportSpec, nn.Module, Any]:
    encoder = turn_encoder(load_encoder(folder))
    assert isinstance(encoder, SentenceTransformerEncoder)
    if is_static(encoder.model.tokenizer):
        raise TurnloomError(f"{folder} is a static model, which an export would not make faster", "serve it as it is")
    model = encoder.model.cpu()  # The graph's example inputs are on the CPU.
    prompts = _prompts(model)
    pools = [module for module in model.modules() if getattr(module, "include_prompt", True) is False]
    if prompts and pools:
        raise TurnloomError(f"{folder} leaves its prompts out of the mean", "such a model cannot be exported yet")
    outputs = ["meaning", "query", "document"] if encoder.has_heads else ["meaning"]
    spec = ExportSpec(
        kind="encoder",
        precision="fp32",
        max_length=model.max_seq_length or 512,
        inputs=_inputs(model.tokenizer),
        outputs=outputs,
        prompts=prompts,
        languages=sorted(encoder.languages),
        source=encoder.fingerprint,
    )
    return spec, _encoder_graph(model, spec), model.tokenizer


def _prompts(model: Any) -> dict[str, str]:
    """Return the prompt that sentence-transformers puts before a text, for each of the three roles."""
    known = model.prompts or {}
    chosen = {
        "meaning": known.get(model.default_prompt_name or "", ""),
        "query": next((known[name] for name in QUERY if name in known), ""),
        "document": next((known[name] for name in DOCUMENT if name in known), ""),
    }
    default = chosen["meaning"]
    return {role: prompt or default for role, prompt in chosen.items() if prompt or default}


def _scorer(folder: Path) -> tuple[ExportSpec, nn.Module, Any]:
    scorer = load_scorer(folder)
    assert isinstance(scorer, CrossEncoderScorer)
    model = scorer.model.cpu()
    activation = type(model.activation_fn).__name__
    if model.num_labels != 1 or activation not in ("Sigmoid", "Identity"):
        raise TurnloomError(f"{folder} gives no single score for a pair", "export a cross-encoder with one output")
    spec = ExportSpec(
        kind="scorer",
        precision="fp32",
        max_length=model.max_seq_length or 512,
        inputs=_inputs(model.tokenizer),
        outputs=["score"],
        sigmoid=activation == "Sigmoid",
        languages=sorted(scorer.languages),
        source=folder_fingerprint(folder),
    )
    return spec, _scorer_graph(model), model.tokenizer


def _inputs(tokenizer: Any) -> list[str]:
    return [name for name in ("input_ids", "attention_mask", "token_type_ids") if name in tokenizer.model_input_names]


def _encoder_graph(model: Any, spec: ExportSpec) -> nn.Module:
    """Map tokens to one vector per role: the transformer runs once, then each role's modules."""
    from torch import nn

    class Graph(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = _plainly(model[0].auto_model)
            self.after = nn.ModuleList(list(model)[1:])

        def forward(
            self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None
        ) -> tuple[Tensor, ...]:
            states = self.network(**_given(input_ids, attention_mask, token_type_ids))[0]
            return tuple(self.vectors(states, attention_mask, name) for name in spec.outputs)

        def vectors(self, states: Tensor, mask: Tensor, role: str) -> Tensor:
            features: dict[str, Any] = {"token_embeddings": states, "attention_mask": mask}
            for module in self.after:
                routed = {"task": None if role == "meaning" else role} if type(module).__name__ == "Router" else {}
                features = module(features, **routed)
            vectors: Tensor = features["sentence_embedding"][:, : model.truncate_dim]
            return vectors

    return Graph().eval()


def _plainly(network: Any) -> Any:
    """Return the same network with attention as products and a softmax.

    As a single operation, it is exported with a check of every weight for rows that see no token: a fifth of the time.
    """
    network.set_attn_implementation("eager")
    return network


def _given(ids: Tensor, mask: Tensor, segments: Tensor | None) -> dict[str, Tensor]:
    return {"input_ids": ids, "attention_mask": mask, **({} if segments is None else {"token_type_ids": segments})}


def _scorer_graph(model: Any) -> nn.Module:
    from torch import nn

    class Graph(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = _plainly(model.model)

        def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None) -> Tensor:
            found: Tensor = self.network(**_given(input_ids, attention_mask, token_type_ids)).logits
            return found[:, 0]

    return Graph().eval()


def _write_graph(graph: nn.Module, spec: ExportSpec, path: Path) -> None:
    # Never trace (`dynamo=False`): with transformers 5 that silently writes the example's mask into the graph.
    import torch

    # Two rows of different lengths, so that the exporter takes neither size for a constant.
    ids = torch.ones((2, min(7, spec.max_length)), dtype=torch.long)
    example = {"input_ids": ids, "attention_mask": ids.clone(), "token_type_ids": torch.zeros_like(ids)}
    example["attention_mask"][1, 3:] = 0
    rows, length = torch.export.Dim("rows"), torch.export.Dim("length", max=spec.max_length)
    with torch.no_grad():
        torch.onnx.export(
            graph,
            tuple(example[name] for name in spec.inputs),
            str(path),
            input_names=spec.inputs,
            output_names=spec.outputs,
            dynamic_shapes=tuple({0: rows, 1: length} for _ in spec.inputs),
            external_data=False,
            verbose=False,
        )


@contextmanager
def _quietly() -> Iterator[None]:
    """Silence the exporters' messages about their internals, which a user cannot fix."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def agreement(original: Encoder | Scorer, exported: Encoder | Scorer, texts: Sequence[str]) -> dict[str, float]:
    """Measure how close an export is to its model: cosines by role, or a scorer's differences in order and scores.

    Args:
        original: The model.
        exported: Its export.
        texts: The texts to compare on; for a scorer, the first is the context and the others are replies.
    """
    if isinstance(original, Scorer) and isinstance(exported, Scorer):
        one, other = (model.score(texts[:1], texts[1:]) for model in (original, exported))
        return {
            "rank_correlation": float(np.corrcoef(_ranks(one), _ranks(other))[0, 1]),
            "largest_difference": float(np.abs(one - other).max()),
        }
    if not isinstance(original, Encoder) or not isinstance(exported, Encoder):
        raise TurnloomError("an encoder and a scorer cannot be compared", "give the export and its own model")
    inputs: dict[str, Sequence[Any]] = {"encode": texts}
    if original.has_heads:
        inputs |= {"encode_document": texts, "encode_query": [(text,) for text in texts]}
    found: dict[str, float] = {}
    for name, rows in inputs.items():
        one, other = (unit_rows(getattr(model, name)(rows), np.float64) for model in (original, exported))
        cosines = (one * other).sum(axis=1)
        found |= {f"{name}_mean_cosine": float(cosines.mean()), f"{name}_least_cosine": float(cosines.min())}
    return found


def _ranks(values: Any) -> Any:
    return np.argsort(np.argsort(values, kind="stable"), kind="stable")
