"""The index of past replies: build it from conversations, search it with a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from turnloom.checksums import CHECKSUMS
from turnloom.corpus.table import read_manifest
from turnloom.errors import TurnloomError
from turnloom.feedback import Feedback
from turnloom.files import refuse_other_files
from turnloom.replies.ann import prune_versions
from turnloom.replies.manifest import (
    LOCK,
    MANIFEST,
    IndexManifest,
    IndexVersion,
    chosen_version,
    read_index_manifest,
    sole_writer,
)
from turnloom.replies.occurrences import ReplyOptions, said_keys, tables_of
from turnloom.replies.preference import Preference
from turnloom.replies.search import OWN_ORDER, RARITY, Mode, Searcher, SearchOptions
from turnloom.replies.store import Store, named_condition
from turnloom.replies.suggestion import (
    RERANK_WEIGHT,
    RERANKED,
    Suggestion,
    by_own_reranker,
    check_question,
    in_final_order,
    of_this_case_first,
    own_reranker,
)
from turnloom.replies.writer import IndexWriter, model_mismatch
from turnloom.runtime.conversation import ConversationState
from turnloom.runtime.protocols import Context, Encoder, Progress, Scorer, Vectors, is_made_for

SHARD_SIZE = 20_000
"""Turns read between two commits: the most that a killed run loses."""
Tables = Path | str | Sequence[Path | str]


class ReplyIndex:
    """An index of past replies, and the search for replies that fit.

    An open index stays at its version. Call `refresh` to see what this or another process has written since.

    Args:
        folder: The index's folder.
        encoder: The encoder that made its vectors, or an export of it. Without one, you can only search words.
        scorer: A cross-encoder that re-ranks the best candidates, instead of the encoder's own re-ranker.
        version: An older version to open.
        feedback: A file of feedback: replies that people rejected are suggested less, those they accepted more.

    Raises:
        TurnloomError: If there is no finished index, no such version, or its vectors come from another model.

    Example:
        ``ReplyIndex("runs/replies", load_encoder("my-model")).suggest(["I lost my card"], k=3)``
    """

    def __init__(
        self,
        folder: Path | str,
        encoder: Encoder | None = None,
        *,
        scorer: Scorer | None = None,
        version: int | None = None,
        feedback: Path | str | None = None,
    ) -> None:
        self.folder = Path(folder)
        self._preference = None if feedback is None else Preference(Feedback(feedback))
        self.encoder, self.scorer = encoder, scorer
        self._manifest = read_index_manifest(self.folder)
        self._store = Store(self.folder)
        self._open(version)

    def _open(self, number: int | None) -> None:
        chosen = chosen_version(self.folder, self._manifest, number)
        if self.encoder is not None and not is_made_for(self.encoder, chosen.fingerprint):
            raise model_mismatch(self.folder, chosen, self.encoder)
        self._searcher = Searcher(self._store, chosen)

    @classmethod
    def build(
        cls,
        tables: Tables,
        folder: Path | str,
        encoder: Encoder,
        options: ReplyOptions | None = None,
        *,
        scorer: Scorer | None = None,
        shard_size: int = SHARD_SIZE,
        on_progress: Progress = lambda *_: None,
    ) -> ReplyIndex:
        """Index the replies of dialogue tables. After an interruption, the same call resumes.

        Args:
            tables: One or more dialogue table folders.
            folder: The index's folder.
            encoder: Encodes replies with `encode_document` and contexts with `encode_query`.
            options: Which turns are replies.
            scorer: A cross-encoder for the opened index.
            shard_size: The approximate number of turns per batch.
            on_progress: Called with the step, the share of it that is done, and a note.

        Raises:
            TurnloomError: If the folder holds another index or other files, or a table is incomplete.
        """
        path, options = Path(folder), options or ReplyOptions()
        for table in tables_of(tables):
            read_manifest(table)  # Reports what is wrong with the tables before anything is written.
        with sole_writer(path):
            if not (path / MANIFEST).exists():
                refuse_other_files(path, "an index", beside=[LOCK, CHECKSUMS])
                IndexManifest(options=options).write(path / MANIFEST)
            manifest = read_index_manifest(path)
            if manifest.options != options:
                raise TurnloomError(f"{path} holds an index with other options", "choose another folder")
            writer = IndexWriter(path, manifest, encoder, on_progress)
            if not manifest.versions:
                writer.add(tables_of(tables), shard_size)
            elif not is_made_for(encoder, manifest.versions[-1].fingerprint):
                raise model_mismatch(path, manifest.versions[-1], encoder)
            elif manifest.versions[0].job != writer.add_job(tables_of(tables)):
                raise TurnloomError(f"{path} holds an index of other tables", "add to it with: turnloom replies add")
        return cls(path, encoder, scorer=scorer)

    def add(
        self, tables: Tables, *, shard_size: int = SHARD_SIZE, on_progress: Progress = lambda *_: None
    ) -> IndexVersion:
        """Add the replies of more dialogues; those already indexed are not counted twice.

        A conversation that has grown adds only its new turns. After an interruption, the same call resumes. You can
        also add with an export of the index's model: their vectors are compatible, and both can search all of them.
        """
        if self.encoder is None:
            raise TurnloomError("adding replies needs the model", "open the index with its encoder")
        with sole_writer(self.folder):
            self._writer(on_progress).add(tables_of(tables), shard_size)
        return self.refresh()

    def delete(
        self, *, conversations: Sequence[str] = (), replies: Sequence[str] = (), where: str | None = None
    ) -> IndexVersion:
        """Remove conversations or replies: counts go down, and a reply without occurrences is removed.

        Older versions keep them until `prune`.

        Args:
            conversations: The ids of dialogues.
            replies: The texts of replies to remove everywhere; case does not matter.
            where: An SQL condition over `dialogue_id`, `source` and `turn`.
        """
        condition = named_condition(conversations, replies, where)
        with sole_writer(self.folder):
            try:
                self._writer().delete(condition, f"delete where {condition[:200]}")
            except ValueError as error:  # LanceDB raises this for an invalid condition.
                problem = f"the condition {where!r} is wrong ({error})".replace("\n", " ")
                raise TurnloomError(problem, "it may name dialogue_id, source and turn") from error
        return self.refresh()

    @classmethod
    def reembed(
        cls,
        folder: Path | str,
        encoder: Encoder,
        *,
        shard_size: int = SHARD_SIZE,
        on_progress: Progress = lambda *_: None,
    ) -> ReplyIndex:
        """Encode everything again with another model; readers keep the old vectors until it is done.

        After an interruption, the same call resumes.
        """
        path = Path(folder)
        read_index_manifest(path)  # Do not create a lock in a folder without an index.
        with sole_writer(path):
            IndexWriter(path, read_index_manifest(path), encoder, on_progress).reembed(shard_size)
        return cls(path, encoder)

    @staticmethod
    def rollback(folder: Path | str) -> str | None:
        """Undo an unfinished write, and return its description; None if there is none."""
        read_index_manifest(path := Path(folder))  # Do not create a lock in a folder without an index.
        with sole_writer(path):
            return IndexWriter(path, read_index_manifest(path), None).rollback()

    def prune(self, keep: int = 1) -> list[int]:
        """Remove older versions and free their space; return the removed numbers. Their readers then fail."""
        with sole_writer(self.folder):
            self._writer().refuse_unfinished()
            gone = prune_versions(self.folder, self._store, read_index_manifest(self.folder), keep)
        self.refresh()
        return gone

    def _writer(self, on_progress: Progress = lambda *_: None) -> IndexWriter:
        return IndexWriter(self.folder, read_index_manifest(self.folder), self.encoder, on_progress)

    def refresh(self) -> IndexVersion:
        """Switch to the newest version."""
        self._manifest = read_index_manifest(self.folder)
        self._open(None)
        return self.version

    @property
    def version(self) -> IndexVersion:
        """The open version."""
        return self._searcher.version

    @property
    def versions(self) -> list[IndexVersion]:
        """All finished versions, oldest first."""
        return list(self._manifest.versions)

    @property
    def options(self) -> ReplyOptions:
        """Which turns are replies."""
        return self._manifest.options

    def __len__(self) -> int:
        return self.version.replies.rows

    def suggest(
        self,
        context: Context,
        k: int = 5,
        *,
        mode: Mode | None = None,
        where: str | None = None,
        rarity: float = RARITY,
        reranked: int = RERANKED,
        rerank_weight: float = RERANK_WEIGHT,
        repeats: bool = False,
        min_score: float | None = None,
    ) -> list[Suggestion]:
        """Find the replies that fit a context best; those that tell somebody else about their case come last.

        Args:
            context: The turns so far, oldest first.
            k: How many replies to return.
            mode: What to compare. "vector": context and replies. "typical": the same, and what most of the nearest say
                comes first. "text": the words of the last turn and of replies (BM25). "contexts": the context and those
                of past replies. "hybrid" (default; "text" without an encoder) fuses vector and text, "all" all three.
            where: An SQL condition, such as ``count > 1 AND array_has_any(sources, ['chats'])``.
            rarity: The power of the inverse response frequency that scores are multiplied by: 0 off, 1 as in WMDC.
            reranked: How many of the best replies to re-rank, if there is a re-ranker.
            rerank_weight: A cross-encoder's weight: 0 ignores it, 1 the search. At 0 the encoder's own is off, too.
            repeats: Whether a reply may repeat a turn of the context. A turn's nearest neighbour is often itself.
            min_score: Leave out replies of a lower score; in mode "typical" alone, where scores tell how sure it is.
        """
        check_question(context, k)
        state = None
        if mode not in OWN_ORDER and rerank_weight and self.scorer is None and (reader := own_reranker(self.encoder)):
            state = reader.start(context)
            vector = state.query()[0]
        elif mode != "text" and self.encoder is not None:
            vector = self.encoder.encode_query([context])[0]
        elif mode in (None, "text"):
            vector, mode = None, "text"
        else:
            raise TurnloomError(f"mode {mode!r} needs the model", "open the index with its encoder, or use mode 'text'")
        options = SearchOptions(mode, where, rarity, reranked, rerank_weight, repeats, True, min_score)
        return self.suggest_for(context, vector, k, options, state)

    def suggest_for(
        self,
        context: Context,
        vector: Vectors | None,
        k: int = 5,
        options: SearchOptions = SearchOptions(),
        state: ConversationState | None = None,
    ) -> list[Suggestion]:
        """Do the same as `suggest` for a context whose vector is known; with its `state`, re-rank if it can."""
        check_question(context, k)
        keeps_order = self.scorer is not None or options.mode in OWN_ORDER
        reranker = None if state is None or keeps_order or not state.reranks else state
        limit = options.limit(k, is_reordered=bool(self.scorer or reranker or self._preference))
        said = set() if options.repeats else said_keys(context)
        hits = self._searcher.hits(context, vector, options, limit + len(said))
        pairs = zip(hits, self._searcher.suggestions(hits), strict=True)
        new = [pair for pair in pairs if pair[1].key not in said][:limit]
        hits, found = [hit for hit, _ in new], [suggestion for _, suggestion in new]
        if reranker is not None and found:
            found = by_own_reranker(reranker, self._searcher.vectors(hits), found)
        elif self.scorer is not None:
            found = in_final_order(self.scorer, context, found, options.rerank_weight)
        found = found if self._preference is None else self._preference.ordered(found)
        return (of_this_case_first(found, context) if options.this_case else found)[:k]

    def known_keys(self, keys: Sequence[int]) -> pa.Array:
        """Return those keys whose reply is in the index."""
        found = self._store.rows_with(self._searcher.replies, "key", list(dict.fromkeys(keys)), ["key"])
        return found["key"].combine_chunks()
