"""`IntentClassifier`: learns intents from a few examples each, and can answer "I don't know"."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from turnloom.corpus.labelled import OUT_OF_SCOPE
from turnloom.errors import TurnloomError
from turnloom.intents.answers import AT_A_TIME, Answer, Suggestion, answer_vectors, suggest
from turnloom.intents.calibration import micro_f1
from turnloom.intents.discover import Cluster, discover_clusters
from turnloom.intents.evidence import PoolReport
from turnloom.intents.examples import Labels, Message, Turns, embed, label_sets, turns_of
from turnloom.intents.fitted import Fitted, Method, Options, fit, refit, with_examples
from turnloom.intents.inputs import encode_examples, encode_names, encode_pool, encode_unlabelled
from turnloom.intents.names import Names, given_names, label_words
from turnloom.intents.saving import Saved, read_fitted, write_fitted
from turnloom.intents.scope import Scope
from turnloom.runtime.encoder import load_encoder
from turnloom.runtime.protocols import Encoder, turn_encoder
from turnloom.vectors.encoder import stored


class IntentClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """Classify intents from a few examples each, and recognise out-of-scope messages.

    Reads never block: `partial_fit` and `remove` prepare a new state and swap it in. One classifier can therefore serve
    many threads while it changes.

    Args:
        encoder: A model folder, a SentenceTransformer, or any object with `encode`.
        method: `prototypes`, `knn`, `logistic`, or `auto` to choose by cross-validation.
        multi_label: Whether a message may have several intents.
        context_turns: How many earlier turns of the conversation to encode together with a message.
        false_reject_rate: The share of in-scope messages that may be rejected. The threshold comes from the examples,
            each left out in turn; you don't need out-of-scope examples.
        false_accept_rate: The share of out-of-scope messages that may be accepted. Overrides `false_reject_rate` and
            needs out-of-scope examples.
        accept_at: The probability at or above which the most likely intent is accepted. Below it, the answer is `ask`.
        frequencies: How often each intent occurs in real traffic; by default, as often as in the examples. Rates and
            probabilities hold for this mix.
        vectors: A vector table's folder: messages that it holds are not encoded again.

    Example:
        >>> from turnloom.intents import IntentClassifier
        >>> class Letters:  # any object with `encode` is an encoder
        ...     def encode(self, texts):
        ...         return [[text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
        >>> texts = ["my card is lost", "i lost my card", "what is my balance", "show the balance"]
        >>> classifier = IntentClassifier(Letters()).fit(texts, ["lost", "lost", "balance", "balance"])
        >>> classifier.predict(["is my card lost"]).tolist()
        ['lost']
    """

    def __init__(
        self,
        encoder: Any = None,
        *,
        method: Method = "auto",
        multi_label: bool = False,
        context_turns: int = 0,
        false_reject_rate: float = 0.1,
        false_accept_rate: float | None = None,
        accept_at: float = 0.5,
        frequencies: Mapping[str, float] | None = None,
        vectors: str | Path | None = None,
    ) -> None:
        self.encoder = encoder
        self.method = method
        self.multi_label = multi_label
        self.context_turns = context_turns
        self.false_reject_rate = false_reject_rate
        self.false_accept_rate = false_accept_rate
        self.accept_at = accept_at
        self.frequencies = frequencies
        self.vectors = vectors
        self._writing = threading.RLock()
        self._loaded: Encoder | None = None
        self._made_with: Saved | None = None  # Identifies the model behind an export.
        self._fitted: Fitted | None = None

    def __sklearn_clone__(self) -> IntentClassifier:
        """Return an unfitted classifier with the same options; the encoder is shared, not copied."""
        return type(self)(**self.get_params(deep=False))

    def __sklearn_is_fitted__(self) -> bool:
        return self._fitted is not None

    @property
    def model(self) -> Encoder:
        """The encoder, loaded on first use."""
        with self._writing:
            if self._loaded is None:
                if self.encoder is None:
                    raise TurnloomError("the classifier has no encoder", "give it a model's folder as `encoder`")
                self._loaded = stored(turn_encoder(load_encoder(self.encoder)), self.vectors)
            return self._loaded

    @property
    def fitted(self) -> Fitted:
        """The current state: an immutable value that the next change replaces."""
        if self._fitted is None:
            raise TurnloomError("the classifier has not been fitted", "call fit with messages and their intents")
        return self._fitted

    @property
    def classes_(self) -> npt.NDArray[np.str_]:
        """The intents, in the order of `predict_proba`'s columns."""
        return np.array(self.fitted.examples.intents)

    @property
    def scope(self) -> Scope:
        """The threshold and its expected error rates."""
        return self.fitted.scope

    @property
    def pool_report(self) -> PoolReport | None:
        """What the pool did; None if `fit` got none."""
        return self.fitted.evidence.report

    def _options(self) -> Options:
        return Options(**{name: getattr(self, name) for name in Options.__dataclass_fields__})

    def _embed(self, messages: Sequence[Turns]) -> npt.NDArray[np.float32]:
        return embed(self.model, messages, self.context_turns)

    def fit(
        self,
        X: Sequence[Message] = (),  # noqa: N803 - as scikit-learn names it
        y: Labels = (),
        *,
        names: Names = True,
        pool: Sequence[Message] = (),
        out_of_scope: Sequence[Message] = (),
        held_out: Sequence[Message] = (),
    ) -> IntentClassifier:
        """Learn intents from examples, names and unlabelled messages.

        Args:
            X: Messages, each a text or the turns of a conversation with the message last.
            y: Each message's intent or intents. `out_of_scope`, `oos` and `none` mean that no intent fits.
            names: What intents are called, which counts like one or two examples: by default the words of their labels.
                A dictionary gives intents a better name or a description, and can add intents without examples; so
                does a list of names. False to ignore names.
            pool: Unlabelled messages, such as last month's; some may fit no intent. `pool_report` tells what they did.
            out_of_scope: Further messages that fit no intent.
            held_out: In-scope messages that are not examples. If given, the threshold comes from them.

        Raises:
            TurnloomError: If there are neither examples nor names, or none to estimate the requested rate from.
        """
        options = self._options()
        given = given_names(names)
        examples, outside = encode_examples(self._embed, X, y, list(given), multi_label=self.multi_label)
        if not examples.intents:
            raise TurnloomError("no message has an intent", "give at least one example or a name of each intent")
        words = {} if names is False else {name: given.get(name) or label_words(name) for name in examples.intents}
        evidence = encode_names(self._embed, words)
        if not len(examples):
            width = next(iter(evidence.name_vectors.values())).size
            examples = replace(examples, vectors=np.zeros((0, width), np.float32))
        away = encode_unlabelled(self._embed, [*outside, *out_of_scope])
        if options.false_accept_rate is not None and not away.messages:
            raise TurnloomError("false_accept_rate needs out-of-scope messages", "give some, or use false_reject_rate")
        state = fit(
            examples, options, encode_unlabelled(self._embed, held_out), away, evidence, encode_pool(self._embed, pool)
        )
        with self._writing:
            self._fitted, self._made_with = state, None
        return self

    def partial_fit(self, X: Sequence[Message] = (), y: Labels = (), *, names: Names = True) -> IntentClassifier:  # noqa: N803
        """Add examples, or intents by their names, without training: known intents keep what they learned.

        Call `refit` to train the logistic head on the new examples too.
        """
        if self._fitted is None:
            return self.fit(X, y, names=names)
        given = given_names(names)
        more, outside = encode_examples(self._embed, X, y, list(given), multi_label=self.multi_label)
        beyond = encode_unlabelled(self._embed, outside)
        with self._writing:
            old = replace(self.fitted, outside=self.fitted.outside.plus(beyond))
            if names is not False and (old.evidence.names or given):
                new = [name for name in more.intents if name in given or name not in old.evidence.names]
                words = {name: given.get(name) or label_words(name) for name in new}
                old = replace(old, evidence=old.evidence.plus(encode_names(self._embed, words)))
            self._fitted = with_examples(old, old.examples.plus(more))
        return self

    def remove(self, messages: Sequence[Message] = (), *, intents: Sequence[str] = ()) -> int:
        """Remove examples or whole intents without training, and return how many examples were removed.

        Raises:
            TurnloomError: If no example would be left, or an intent is unknown.
        """
        turns = [turns_of(message) for message in messages]
        with self._writing:
            known = self.fitted.examples
            examples = known.without(turns, intents)
            evidence = self.fitted.evidence.without(set(known.intents) - set(examples.intents))
            self._fitted = with_examples(replace(self.fitted, evidence=evidence), examples)
            return len(known) - len(examples)

    def refit(self) -> IntentClassifier:
        """Choose the method, train and calibrate again on the current examples; what a pool taught stays as it is."""
        with self._writing:
            self._fitted = refit(self.fitted, self._options())
        return self

    def answer(self, messages: Sequence[Message], *, examples: int = 3) -> list[Answer]:
        """Decide what to do with each message (accept, ask or out of scope), and show its nearest examples."""
        state = self.fitted
        return answer_vectors(state, self._embed([turns_of(message) for message in messages]), examples)

    def predict(self, X: Sequence[Message]) -> npt.NDArray[np.object_]:  # noqa: N803
        """Return the intent of each message or `out_of_scope`; a possibly empty tuple per message if multi-label.

        A message that `answer` would ask about gets its most likely intent.
        """
        found = np.empty(len(X), object)
        for place, answer in enumerate(self.answer(X, examples=0)):
            likeliest = (answer.candidates[0].intent,) if answer.decision == "ask" else ()
            chosen = answer.intents or likeliest
            found[place] = chosen if self.multi_label else (chosen[0] if chosen else OUT_OF_SCOPE)
        return found

    def predict_proba(self, X: Sequence[Message]) -> npt.NDArray[np.float64]:  # noqa: N803
        """Return calibrated probabilities (columns as in `classes_`), given that the message is in scope."""
        state = self.fitted
        vectors = self._embed([turns_of(message) for message in X])
        blocks = [vectors[start : start + AT_A_TIME] for start in range(0, len(vectors), AT_A_TIME)]
        rows = [state.probabilities(block, block @ state.examples.vectors.T) for block in blocks]
        return np.vstack(rows) if rows else np.zeros((0, len(state.examples.intents)))

    def score(self, X: Sequence[Message], y: Labels, sample_weight: Any = None) -> float:  # noqa: N803
        """Return the accuracy, counting `out_of_scope` as a class; with several labels, micro F1."""
        truth, said = label_sets(y), self.predict(X)
        if self.multi_label:
            return micro_f1(truth, list(said))
        right = [
            (name,) == names or (name == OUT_OF_SCOPE and not names) for name, names in zip(said, truth, strict=True)
        ]
        return float(np.average(right, weights=sample_weight))

    def suggest_labels(self, messages: Sequence[Message], count: int = 10) -> list[Suggestion]:
        """Suggest which messages to label next: unclear ones, no two alike."""
        turns = [turns_of(message) for message in messages]
        return suggest(self.fitted, turns, self._embed(turns), count)

    def discover(self, messages: Sequence[Message], *, min_size: int = 5, typical: int = 3) -> list[Cluster]:
        """Find groups among messages that fit no intent, largest first: candidates for missing intents.

        Args:
            messages: New messages; those in scope are ignored.
            min_size: Smaller groups are not reported.
            typical: How many typical members to show per group.
        """
        turns = [turns_of(message) for message in messages]
        return discover_clusters(self.fitted, turns, self._embed(turns), min_size, typical)

    def save(self, folder: str | Path) -> None:
        """Save the classifier as JSON and safetensors. The encoder itself is not saved, only what identifies it."""
        given = self.encoder if isinstance(self.encoder, (str, Path)) else None
        made_with = self._made_with
        name, fingerprint = (made_with.encoder, made_with.fingerprint) if made_with else (None, None)
        write_fitted(self.fitted, Path(folder), name or self.model.name, fingerprint or self.model.fingerprint, given)

    @classmethod
    def load(cls, folder: str | Path, encoder: Any = None, *, vectors: str | Path | None = None) -> IntentClassifier:
        """Read a saved classifier.

        Args:
            folder: The folder that `save` wrote.
            encoder: The model it was fitted with, or an export of it; by default loaded from the recorded folder.
            vectors: A vector table's folder: messages that it holds are not encoded again.

        Raises:
            TurnloomError: If the encoder is a different model, whose vectors would be incompatible.
        """
        state, saved = read_fitted(Path(folder))
        source = encoder if encoder is not None else saved.model
        if source is None:
            raise TurnloomError(f"{folder} does not say where its model is", "name the model's folder")
        classifier = cls(source, vectors=vectors, **vars(state.options))
        saved.check(classifier.model, Path(folder))
        classifier._fitted = state
        classifier._made_with = saved if saved.fingerprint != classifier.model.fingerprint else None
        return classifier
