"""Replies that grow while they are served: accepted conversations are saved at once and searchable soon after."""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from turnloom.corpus.erasure import Erasure
from turnloom.errors import TurnloomError
from turnloom.files import make_private
from turnloom.journal import locked
from turnloom.replies import ReplyIndex, Suggestion
from turnloom.replies.erasure import erase_from_index, find_in_index
from turnloom.replies.manifest import MANIFEST
from turnloom.replies.search import Mode, SearchOptions
from turnloom.runtime.protocols import Scorer
from turnloom.service.admission import yield_to_the_event_loop
from turnloom.service.config import ReplyServing
from turnloom.service.conversations import ConversationStates
from turnloom.service.erasure import INDEXING, erase_from_waiting, find_in_waiting
from turnloom.service.errors import FullError, RefusedError
from turnloom.service.journal import Journal
from turnloom.service.models import PatientEncoder, QueuedEncoder
from turnloom.service.monitoring import cause_of
from turnloom.service.scrubbing import Scrub, scrubbed

_log = logging.getLogger("turnloom.service")
MOST_VERSIONS, KEPT_VERSIONS = 40, 20
"""Each indexing round creates a version of the index; the oldest ones are pruned."""


class _UnreadableError(RefusedError):
    """The index cannot be read."""

    def __init__(self) -> None:
        super().__init__(503, "unavailable", "The replies cannot be read at the moment.", retry_after=5)


class LiveReplies:
    """A reply index, plus a journal of conversations that wait to be indexed.

    One process at a time indexes for all; the others notice that the index's manifest has changed. Indexing is
    idempotent, so nothing is lost if that process is killed: another one repeats the work.
    """

    def __init__(
        self,
        options: ReplyServing,
        encoder: QueuedEncoder,
        scorer: Scorer | None,
        state: Path,
        conversations: ConversationStates | None = None,
        scrub: Scrub = scrubbed,
        feedback: Path | None = None,
    ) -> None:
        self._conversations, self._scrub, self._feedback = conversations, scrub, feedback
        self._options, self._encoder, self._scorer, self._state = options, encoder, scorer, state
        self._pending = Journal(state / "pending.jsonl")
        self._adding = Journal(state / "adding.jsonl")
        state.mkdir(parents=True, exist_ok=True)
        self._opening = threading.Lock()
        self._seen = self._stamp()
        self._index = self._open()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def _stamp(self) -> int:
        try:
            return (self._options.folder / MANIFEST).stat().st_mtime_ns
        except FileNotFoundError as error:
            folder = self._options.folder
            raise TurnloomError(f"{folder} holds no replies", "make them with: turnloom replies build") from error

    @property
    def index(self) -> ReplyIndex:
        """Return the index at its newest version; indexes returned earlier stay at theirs."""
        try:
            stamp = self._stamp()
        except TurnloomError:  # The index is being replaced; keep serving the open one.
            return self._index
        if stamp != self._seen:
            with self._opening:
                if stamp != self._seen:
                    self._seen = stamp
                    self._index = self._reopened()
        return self._index

    def _open(self) -> ReplyIndex:
        return ReplyIndex(self._options.folder, self._encoder, scorer=self._scorer, feedback=self._feedback)

    def _reopened(self) -> ReplyIndex:
        try:
            return self._open()
        except TurnloomError as error:  # Its vectors now come from another model; a reload switches both.
            _log.error("replies not reopened", extra={"problem": error.problem, "fix": error.fix})
            return self._index

    def suggest(
        self,
        context: Sequence[str],
        k: int,
        mode: Mode | None,
        where: str | None,
        conversation: tuple[str, str] | None = None,
    ) -> tuple[int, list[Suggestion]]:
        """Find the replies that fit a context best; also return the index version.

        With a `conversation`, its owner and its id, only turns that are new in it are encoded.
        """
        min_score = None if mode else self._options.min_score
        mode, state = mode or self._options.mode, None
        asked = SearchOptions(mode, where, this_case=True, min_score=min_score)
        if conversation is not None and self._conversations is not None and mode != "text":
            state = self._conversations.read(*conversation, context)

        def search(index: ReplyIndex) -> list[Suggestion]:
            if state is None:
                return index.suggest(context, k, mode=mode, where=where, min_score=min_score)
            return index.suggest_for(context, state.query()[0], k, asked, state)

        return self._searched(search)

    def _searched(self, search: Callable[[ReplyIndex], list[Suggestion]]) -> tuple[int, list[Suggestion]]:
        """Search, once again if the version was removed meanwhile; return the index version and what was found."""
        index = self.index
        try:
            replies = search(index)
        except (OSError, RuntimeError) as error:  # LanceDB's, when files of a version disappear during a search.
            _log.warning("search repeated", extra=cause_of(error))
            with self._opening:
                index = self._index = self._reopened()
            try:
                replies = search(index)
            except (OSError, RuntimeError) as error:
                raise _UnreadableError from error
        return index.version.number, replies

    def check(self) -> None:
        """Search once, as cheaply as possible.

        Raises:
            Exception: If that fails.
        """
        self._searched(lambda index: index.suggest(["hello"], 1, reranked=1))

    @property
    def damaged(self) -> int:
        """How many damaged conversations were skipped."""
        return len(self._pending.damaged | self._adding.damaged)

    @property
    def pending(self) -> int:
        """The number of conversations that wait to be indexed."""
        return self._pending.count() + self._adding.count()

    def add(self, dialogues: Sequence[dict[str, Any]]) -> int:
        """Save conversations for indexing; return how many are waiting.

        Raises:
            FullError: If too many are waiting already.
        """
        self._waiting_with(len(dialogues))  # Before the work of scrubbing them.
        for dialogue in dialogues:
            for turn, text in zip(dialogue["turns"], self._scrub([t["text"] for t in dialogue["turns"]]), strict=True):
                turn["text"] = text
        with self._pending.writing():
            waiting = self._waiting_with(len(dialogues))
            self._pending.append(list(dialogues))
            return waiting

    def _waiting_with(self, more: int) -> int:
        waiting = self.pending + more
        if waiting > self._options.max_pending:
            raise FullError(429, "too_many_pending", "Too many conversations wait to be indexed.", retry_after=10)
        return waiting

    def start(self) -> None:
        """Index pending conversations periodically, in a thread."""
        self._thread = threading.Thread(target=self._loop, name="replies", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread after its current round."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _loop(self) -> None:
        yield_to_the_event_loop()
        while not self._stop.wait(self._options.add_every_seconds):
            try:
                self.index_pending()
            except Exception as error:  # noqa: PERF203 - what is pending stays on disk for the next round
                _log.error("indexing failed", extra=cause_of(error))

    def index_pending(self) -> int:
        """Index pending conversations unless another process does; return how many were indexed."""
        if not self._pending.size and not self._adding.size:
            return 0
        with locked(self._state / INDEXING, wait=False) as ours:
            if not ours:
                return 0
            if not self._adding.size:
                with self._pending.writing():
                    if self._pending.size:
                        self._pending.path.replace(self._adding.path)
            return self._finish_adding()

    def _finish_adding(self) -> int:
        """Index what an indexing round has taken, with its lock held."""
        records, _ = self._adding.read()
        if records:
            self._add(records)
        self._adding.path.unlink(missing_ok=True)
        shutil.rmtree(self._state / "adding", ignore_errors=True)
        return len(records)

    def erase(self, erasure: Erasure, before: Callable[[Erasure, frozenset[str]], None]) -> tuple[int, int]:
        """Erase conversations from what waits and from all versions of the index.

        Args:
            erasure: What to erase.
            before: Called with the erasure, now with all conversations that it names, and the texts that only these
                have. Whatever else has them must be changed before: if it fails, the same call finds them again.

        Returns:
            How many conversations were erased, and how many of them were waiting.

        Raises:
            TurnloomError: If the index cannot be read or written, or does not know who spoke.
        """
        folder = self._options.folder
        with locked(self._state / INDEXING):
            self._finish_adding()  # Nothing is then half in the index.
            erasure = erasure.plus(find_in_waiting(self._pending, erasure).conversations)
            found = find_in_index(folder, erasure)
            erasure = erasure.plus(found.conversations)
            waiting = find_in_waiting(self._pending, erasure)
            erased = found.plus(waiting)
            before(erasure, erased.texts)
            erase_from_waiting(self._pending, erasure)
            for copy in self._state.glob("*.damaged"):
                copy.unlink(missing_ok=True)
            erase_from_index(folder, erasure)
            return len(erased.conversations), len(waiting.conversations)

    def _add(self, records: list[dict[str, Any]]) -> None:
        from turnloom.corpus.engine import daft
        from turnloom.corpus.schema import Dialogue, Turn, dialogues_to_arrow
        from turnloom.corpus.table import TableWriter

        dialogues = [
            Dialogue(
                record["id"],
                record["source"],
                [Turn(turn["speaker"], turn["text"]) for turn in record["turns"]],
                domains=record.get("domains") or None,
            )
            for record in records
        ]
        table = self._state / "adding"
        shutil.rmtree(table, ignore_errors=True)
        table.mkdir(mode=0o700)
        writer = TableWriter(table)
        writer.write(daft().from_arrow(dialogues_to_arrow(dialogues)))
        writer.finish("turnloom serve", {})
        make_private(table)
        index = ReplyIndex(self._options.folder, PatientEncoder(self._encoder))
        index.add(table)
        if len(index.versions) > MOST_VERSIONS:
            index.prune(KEPT_VERSIONS)
        shutil.rmtree(table)
