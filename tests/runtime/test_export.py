"""Exported models against the models they were made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from tests.objectives.cross_encoders import tiny_cross_encoder
from tests.runtime.test_encoder import tiny_model
from turnloom.errors import TurnloomError
from turnloom.runtime import Encoder, Scorer, load_encoder
from turnloom.runtime.context_format import FILE, ContextFormat
from turnloom.runtime.export import agreement, export_model
from turnloom.runtime.onnx_backend import GRAPH, SPEC, OnnxEncoder, OnnxScorer, batches_of, read_spec
from turnloom.runtime.quantization import smooth
from turnloom.runtime.scorer import is_cross_encoder, load_scorer

pytestmark = pytest.mark.xdist_group("export")  # One process makes the exports, once.

pytest.importorskip("onnxruntime")
TEXTS = [
    "hello there how can i help you",
    "my card is lost",
    "yes",
    "no please",
    "you lost my card please help " * 5,  # longer than the model reads
    "how can you help",
]
CONTEXTS = [("hello there", "my card is lost"), ("yes",), ("no " * 12, "please help", "how")]


@pytest.fixture(scope="module")
def encoder_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny encoder with kept heads."""

    from turnloom.objectives import ContextReplyHeads
    from turnloom.training.losses import keep_heads

    folder = tmp_path_factory.mktemp("encoders")
    (folder / "tiny").mkdir()
    tiny_model.folder = folder / "tiny"  # type: ignore[attr-defined]
    torch.manual_seed(1)
    heads = ContextReplyHeads(32)
    for parameter in heads.parameters():  # They start as doing nothing.
        torch.nn.init.normal_(parameter, std=0.3)
    model = keep_heads(tiny_model(), {"query": heads.context, "document": heads.reply})
    model.save_pretrained(str(folder / "model"), create_model_card=False)
    (folder / "model" / FILE).write_text(ContextFormat(separator="|", max_turns=2).model_dump_json())
    return folder / "model"


@pytest.fixture(scope="module")
def int8_folder(encoder_folder: Path) -> Path:
    export_model(encoder_folder, encoder_folder.parent / "int8", int8=True)
    return encoder_folder.parent / "int8"


@pytest.fixture(scope="module")
def scorer_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scorers")
    words = ["hello", "there", "my", "card", "is", "lost", "yes", "no", "please", "help"]
    model: Any = tiny_cross_encoder(folder / "tiny", words, length=32, spread=0.4)
    model.save_pretrained(str(folder / "model"), create_model_card=False)
    (folder / "model" / FILE).write_text(ContextFormat(separator="[EOT]", closed=True).model_dump_json())
    return folder / "model"


def views(encoder: Encoder) -> dict[str, Any]:
    return {
        "meaning": encoder.encode(TEXTS),
        "query": encoder.encode_query(CONTEXTS),
        "document": encoder.encode_document(TEXTS),
    }


def test_an_exported_encoder_gives_the_same_vectors_in_all_three_views(encoder_folder: Path, tmp_path: Path) -> None:
    spec = export_model(encoder_folder, tmp_path / "out")
    assert (spec.kind, spec.precision, spec.outputs) == ("encoder", "fp32", ["meaning", "query", "document"])
    original, exported = load_encoder(encoder_folder), load_encoder(tmp_path / "out")
    assert isinstance(exported, OnnxEncoder)
    assert isinstance(exported, Encoder)
    assert exported.has_heads
    for view, wanted in views(original).items():
        assert views(exported)[view] == pytest.approx(wanted, abs=1e-4), view
    # The heads are there: the three are different spaces.
    found = views(exported)
    assert np.abs(found["meaning"] - found["document"]).max() > 0.01
    assert (
        exported.format_context(CONTEXTS[0]) == original.format_context(CONTEXTS[0]) == "hello there | my card is lost"
    )
    # One at a time, in any order: batches and padding change nothing.
    alone = np.concatenate([exported.encode([text]) for text in TEXTS[::-1]])[::-1]
    assert alone == pytest.approx(found["meaning"], abs=1e-5)
    assert not is_cross_encoder(tmp_path / "out")
    # Exported once more over it, and refused where it would overwrite something else.
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    with pytest.raises(TurnloomError, match="not an export's"):
        export_model(encoder_folder, tmp_path / "other")
    with pytest.raises(TurnloomError, match="is an export already"):
        export_model(tmp_path / "out", tmp_path / "again")


def test_in_8_bits_vectors_point_the_same_way(encoder_folder: Path, int8_folder: Path) -> None:
    assert read_spec(int8_folder).precision == "int8"
    original, exported = load_encoder(encoder_folder), load_encoder(int8_folder)
    close = agreement(original, exported, TEXTS)
    assert set(close) == {
        f"{view}_{which}_cosine"
        for view in ("encode", "encode_query", "encode_document")
        for which in ("mean", "least")
    }
    assert min(close.values()) > 0.99
    # They are rounded all the same, and counted as another model.
    assert np.abs(original.encode(TEXTS) - exported.encode(TEXTS)).max() > 1e-6
    assert exported.fingerprint != original.fingerprint


@pytest.mark.nightly
def test_any_number_of_threads_computes_the_same(encoder_folder: Path, tmp_path: Path) -> None:
    export_model(encoder_folder, tmp_path / "out")
    one, three = (OnnxEncoder(tmp_path / "out", threads=threads, batch_tokens=20) for threads in (1, 3))
    texts = [*TEXTS, *(text + " please" for text in TEXTS)]
    assert three.encode(texts) == pytest.approx(one.encode(texts), abs=1e-6)
    assert three.encode(texts[:1]) == pytest.approx(one.encode(texts[:1]), abs=1e-6)


def test_tokens_of_what_was_just_encoded_are_not_counted_again(
    encoder_folder: Path, int8_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service asks for both: to run the tokenizer twice was a fiftieth of its work."""
    exported = OnnxEncoder(int8_folder)
    expected = exported.count_tokens(TEXTS)
    assert expected == load_encoder(encoder_folder).count_tokens(TEXTS)  # type: ignore[attr-defined]
    exported.encode(TEXTS[:4])
    assert exported.count_tokens(TEXTS) == expected
    exported.encode(TEXTS)
    monkeypatch.setattr(exported, "_tokenizer", None)
    assert exported.count_tokens(TEXTS[::-1]) == expected[::-1]


def test_in_8_bits_a_vector_does_not_depend_on_its_company(int8_folder: Path) -> None:
    exported = load_encoder(int8_folder)
    alone = np.concatenate([exported.encode([text]) for text in TEXTS])
    # One range for a whole batch, as dynamic quantisation takes it, moves these by a hundredth and more.
    assert exported.encode(TEXTS) == pytest.approx(alone, abs=1e-5)


def test_smoothing_changes_nothing_but_makes_channels_alike() -> None:
    torch.manual_seed(0)
    graph = torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.Linear(4, 2)).double()
    with torch.no_grad():
        graph[1].weight[:, 0] *= 20.0
    states = torch.randn(3, 5, 6, dtype=torch.float64) * torch.tensor([1, 1, 1, 1, 1, 500.0])
    wanted = graph(states)
    smooth(graph, [{"states": states}])
    assert torch.allclose(graph(states), wanted, rtol=1e-10, atol=1e-12)
    sizes = (states * graph[0].inverse).abs().flatten(0, 1).amax(0)
    assert sizes.max() / sizes.min() < 20 < states.abs().flatten(0, 1).amax(0).max() / 10
    pooled = torch.nn.Sequential(torch.nn.Linear(6, 4))
    smooth(pooled, [{"states": torch.randn(3, 6)}])
    assert isinstance(pooled[0], torch.nn.Linear)


def test_what_several_matrices_see_is_scaled_alike() -> None:
    class Three(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one, self.two, self.after = (torch.nn.Linear(4, 4) for _ in range(3))

        def forward(self, states: torch.Tensor) -> torch.Tensor:
            found: torch.Tensor = self.after(self.one(states) + self.two(states))
            return found

    torch.manual_seed(0)
    graph, states = Three(), torch.randn(2, 3, 4)
    smooth(graph, [{"states": states}, {"states": states / 2}])
    assert graph.one.inverse is graph.two.inverse
    assert not torch.allclose(graph.after.inverse, graph.one.inverse)


def test_queries_keys_and_values_are_rounded_once(encoder_folder: Path, int8_folder: Path) -> None:
    onnx = pytest.importorskip("onnx")
    layers = SentenceTransformer(str(encoder_folder))[0].auto_model.config.num_hidden_layers
    kinds = [node.op_type for node in onnx.load(str(int8_folder / GRAPH)).graph.node]
    assert kinds.count("QuantizeLinear") == 4 * layers
    assert "IsNaN" not in kinds


@pytest.mark.parametrize(
    ("sizes", "most", "expected"),
    [
        ([9, 8, 3, 3, 3, 3], 6, [1, 1, 4]),
        ([30, 2, 2], 6, [1, 2]),
        ([2, 2, 2, 2], 2, [2, 2]),
        ([0, 0], 6, [2]),  # A tokenizer may have no marks for the ends of a text.
        ([], 6, []),
    ],
)
def test_batches_hold_so_many_tokens_or_one_text(sizes: list[int], most: int, expected: list[int]) -> None:
    found = [len(sizes[rows]) for rows in batches_of(np.array(sizes), 12, most)]
    assert found == expected


@pytest.mark.parametrize("int8", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_an_exported_scorer_gives_the_same_scores(scorer_folder: Path, tmp_path: Path, int8: bool) -> None:
    export_model(scorer_folder, tmp_path / "out", int8=int8, calibration=[*TEXTS, "my card is lost " * 9])
    assert is_cross_encoder(tmp_path / "out")
    original, exported = load_scorer(scorer_folder), load_scorer(tmp_path / "out")
    assert isinstance(exported, OnnxScorer)
    assert isinstance(exported, Scorer)
    replies = ["yes please", "no", "my card is lost please help", "hello " * 40]
    for context in (["hello there"], ["my card is lost"] * 9):
        wanted, found = original.score(context, replies), exported.score(context, replies)
        assert found == pytest.approx(wanted, abs=0.02 if int8 else 1e-4)
        assert np.ptp(wanted) > 0.01
    assert exported.score(["hello"], []).shape == (0,)
    close = agreement(original, exported, TEXTS)
    # How much 8 bits round depends on the processor; of five scores that lie close, two may change places.
    assert close["largest_difference"] < (0.05 if int8 else 1e-4)
    assert close["rank_correlation"] > (0.85 if int8 else 0.99)


def test_what_is_no_export_is_said(tmp_path: Path, encoder_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / SPEC).write_text('{"kind": "encoder"}')
    with pytest.raises(TurnloomError, match="describes no export"):
        load_encoder(tmp_path / "half")
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(TurnloomError, match=r"pip install 'turnloom\[onnx\]'"):
        export_model(encoder_folder, tmp_path / "out")


@pytest.mark.slow
def test_the_command_reports_what_it_changed(
    encoder_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import json

    from turnloom.cli.export import export

    (tmp_path / "texts.txt").write_text("\n".join(TEXTS))
    export(encoder_folder, out=tmp_path / "out", int8=True, texts=tmp_path / "texts.txt", calibrate=None, measure=False)
    said = capsys.readouterr().out
    assert "encode query mean cosine: 0.99" in said or "encode query mean cosine: 1.0" in said
    assert "times as fast" in said
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["agreement"]["encode_least_cosine"] > 0.99
    assert report["megabytes"]["after"] > 0
    # The report is no part of the model: with it or without, vectors are cached under one name.
    before = load_encoder(tmp_path / "out").fingerprint
    (tmp_path / "out" / "report.json").unlink()
    assert load_encoder(tmp_path / "out").fingerprint == before
