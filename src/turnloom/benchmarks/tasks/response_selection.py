"""Response selection: the true reply among 100 (DSE, Table 4), at utterance and dialogue level."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turnloom.benchmarks.cache import CachedEncoder
from turnloom.benchmarks.data import rows, turns_of
from turnloom.benchmarks.metrics import cosine_similarity, expected_reciprocal_rank, expected_top_k
from turnloom.benchmarks.task import Draw, Draws, Space, Task, TaskInfo

BLOCK = 100
MAX_PAIRS = 3_000
TOP = (1, 3, 10)
CONTEXT_NAMES = {1: "-next", None: "-all"}


@dataclass(frozen=True)
class Selection:
    """A context and the reply that followed it."""

    context: tuple[str, ...]
    reply: str


def _question_answers(dataset: str, *files: str) -> Iterator[Selection]:
    for file in files:
        for row in rows(dataset, file):
            yield Selection((row["question"],), row["answer"])


def next_turns(dialogues: Iterable[Sequence[tuple[str, str]]], turns: int | None) -> Iterator[Selection]:
    """Yield each turn by a new speaker with the `turns` before it as context, or all of them for None.

    With a number, shorter contexts are left out; with None, one turn is enough.

    Example:
        >>> [pair.context for pair in next_turns([[("a", "hi"), ("b", "hello"), ("a", "bye")]], None)]
        [('hi',), ('hi', 'hello')]
    """
    for dialogue in dialogues:
        for place in range(turns or 1, len(dialogue)):
            if dialogue[place][0] != dialogue[place - 1][0]:
                first = 0 if turns is None else place - turns
                yield Selection(tuple(text for _, text in dialogue[first:place]), dialogue[place][1])


def selection_pairs(dataset: str, turns: int | None = 1) -> list[Selection]:
    """Return all contexts and replies of a set; questions and answers have one turn of context."""
    if dataset == "amazon_qa":
        return list(_question_answers(dataset, "Appliances", "Video_Games"))
    if dataset == "medquad":
        return list(_question_answers(dataset, "all"))
    file = {"ubuntu_irc": "test.conv", "sgd": "test", "multiwoz21": "test", "topical_chat": "test_freq"}[dataset]
    return list(next_turns(turns_of(dataset, file), turns))


def blocks(pairs: list[Selection], seed: int, limit: int = MAX_PAIRS) -> list[list[Selection]]:
    """Split shuffled pairs into blocks of 100, never in the order of the file; an incomplete last block is dropped."""
    order = np.random.default_rng(seed).permutation(len(pairs))[:limit]
    size = min(BLOCK, len(order))
    return [[pairs[place] for place in order[start : start + size]] for start in range(0, len(order) - size + 1, size)]


def selection_scores(similarities: npt.NDArray[np.float64], replies: list[str]) -> list[dict[str, float]]:
    """Return each context's scores against the block's replies; copies of the true reply's text are left out."""
    found = []
    for truth, row in enumerate(similarities):
        keep = np.array([place == truth or reply != replies[truth] for place, reply in enumerate(replies)])
        place = int(keep[:truth].sum())
        scores = {f"top{k}": 100 * expected_top_k(row[keep], place, k) for k in TOP}
        found.append({**scores, "mrr": 100 * expected_reciprocal_rank(row[keep], place)})
    return found


def selection_draw(scores: list[dict[str, float]]) -> Draw:
    """Return the means over contexts; Top-1 is the main score."""
    means = {name: float(np.mean([score[name] for score in scores])) for name in scores[0]}
    return Draw(means, [score["top1"] for score in scores])


class ResponseSelection(Task):
    """Rank the true reply among the replies to 99 other contexts.

    `turns` is the number of turns of a context; None for all turns before the reply. `space` selects the outputs to
    compare: by meaning, or those for contexts and replies. `pairs` returns your own contexts and replies.
    """

    def __init__(
        self,
        dataset: str,
        turns: int | None = 1,
        space: Space = "plain",
        pairs: Callable[[], list[Selection]] | None = None,
    ) -> None:
        self.pairs = pairs or (lambda: selection_pairs(dataset, turns))
        self.turns = turns
        self.space = space
        utterance = dataset in ("amazon_qa", "medquad")
        context = "" if utterance else CONTEXT_NAMES.get(turns, f"-context{turns}")
        self.info = TaskInfo(
            name=f"select-{dataset}{context}" + ("" if space == "plain" else "-heads"),
            family="response selection",
            level="utterance" if utterance else "dialogue",
            dataset=dataset,
            language="en",
            main_score="top1",
            reference="" if turns is None else "DSE, Table 4",
            own_data=pairs is not None,
        )

    def evaluate(self, encoder: CachedEncoder, draws: int, seed: int) -> Draws:
        """Return Top-1, Top-3, Top-10 and MRR in percent, one draw per shuffle."""
        pairs = self.pairs()
        found = []
        shuffles = [blocks(pairs, seed + draw) for draw in range(draws)]
        self._encode_all(encoder, [pair for shuffle in shuffles for block in shuffle for pair in block])
        for shuffle in shuffles:
            scores: list[dict[str, float]] = []
            for block in shuffle:
                replies = [pair.reply for pair in block]
                scores += selection_scores(self._similarities(encoder, block, replies), replies)
            found.append(selection_draw(scores))
        return found

    def _encode_all(self, encoder: CachedEncoder, pairs: list[Selection]) -> None:
        """Fill the cache at once, so that texts of similar length share a batch across blocks."""
        replies = [pair.reply for pair in pairs]
        if self.space == "heads":
            encoder.encode_query([pair.context for pair in pairs])
            encoder.encode_document(replies)
        else:
            encoder.encode([*self._texts(encoder, pairs), *replies])

    def _texts(self, encoder: CachedEncoder, pairs: list[Selection]) -> list[str]:
        contexts = [pair.context for pair in pairs]
        return [encoder.format_context(context) if len(context) > 1 else context[0] for context in contexts]

    def _similarities(
        self, encoder: CachedEncoder, block: list[Selection], replies: list[str]
    ) -> npt.NDArray[np.float64]:
        if self.space == "heads":
            contexts = [pair.context for pair in block]
            return cosine_similarity(encoder.encode_query(contexts), encoder.encode_document(replies))
        return cosine_similarity(encoder.encode(self._texts(encoder, block)), encoder.encode(replies))
