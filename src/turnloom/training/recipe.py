"""Recipes: one commented YAML file decides everything about a training run."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any, Literal, TypeVar, overload

import yaml
from pydantic import Field, ValidationError, model_validator

from turnloom.errors import TurnloomError, did_you_mean
from turnloom.runtime.context_format import ContextFormat
from turnloom.runtime.encoder import computes_bf16_fast
from turnloom.training.objective_options import Objective, Options
from turnloom.views import Manipulations, ViewOptions

AnyRecipe = TypeVar("AnyRecipe", bound=Options)


class Shape(Options):
    """The size of a network."""

    layers: int = Field(4, ge=1)
    width: int = Field(256, ge=8)
    heads: int = Field(4, ge=1)


class ModelOptions(Options):
    """The base model, and which of its layers are trained.

    Attributes:
        start: The folder of a SentenceTransformer; for a cross-encoder, that of a CrossEncoder works too.
        random: The shape of a network with random weights to use instead, with the base model's vocabulary.
        max_length: The maximum number of tokens of a text in training. The saved model reads as many as the base model;
            a cross-encoder, as many as in training.
        context: How the turns of a context become one text.
        freeze_embeddings: Whether to freeze the word embeddings.
        freeze_layers: How many of the lowest layers to freeze.
        dropout: Dropout in all layers. Leave it at 0 unless the method needs it: it halves the speed on a CPU.
    """

    start: str | None = None
    random: Shape | None = None
    max_length: int = Field(32, ge=4)
    context: ContextFormat = ContextFormat()
    freeze_embeddings: bool = True
    freeze_layers: int = Field(0, ge=0)
    dropout: float = Field(0.0, ge=0, lt=1)


class Part(Options):
    """One view and its objective; `source_weights` and `limit` are as for `build_view`."""

    view: ViewOptions
    objective: Objective
    source_weights: dict[str, float] = Field(default_factory=dict)
    limit: int | None = Field(None, ge=1)


class Stage(Part):
    """A view, an objective and a schedule. A recipe can have several stages, which run in order.

    Attributes:
        also: More views, each with its own objective, to train on in the same stage; each batch comes from one of them.
        mixing: How often to draw from each group of each view: `proportional` to its rows, or `equal`.
        batch_size: Training pairs per step and process; the other pairs of the batch are negatives.
        mini_batch_size: How many texts' activations to keep in memory at a time, for batches that do not fit.
        encoder_rate: The learning rate of the encoder.
        head_rate: The learning rate of the layers that the objective adds.
        schedule: `constant`, `linear` to zero, or `onecycle` (up to the rate, then down to zero).
        warmup: The share of the run in which the rate rises, for `constant` and `linear`.
        optimizer: `adamw`, or `muon` for the matrices of the encoder's layers, which learns more from each step. It
            needs PyTorch 2.9 and a processor that is fast at bfloat16.
        weight_decay: The optimizer's weight decay.
        max_gradient_norm: The norm to clip gradients to; 0 turns clipping off.
        epochs: Passes over the view, unless you set `steps` or a time.
        steps: The number of steps, instead of epochs.
        minutes: Minutes of training, instead of epochs or steps. Building views, evaluation and saving do not count,
            which makes runs comparable. For a run that ends in time, pass minutes to `train` or the command instead.
    """

    also: list[Part] = Field(default_factory=list)
    mixing: Literal["proportional", "equal"] = "proportional"
    batch_size: int = Field(128, ge=2)
    mini_batch_size: int | None = Field(None, ge=1)
    encoder_rate: float = Field(2e-5, ge=0)
    head_rate: float = Field(3e-4, gt=0)
    schedule: Literal["constant", "linear", "onecycle"] = "constant"
    warmup: float = Field(0.0, ge=0, lt=1)
    optimizer: Literal["adamw", "muon"] = "adamw"
    weight_decay: float = Field(0.0, ge=0)
    max_gradient_norm: float = Field(0.0, ge=0)
    epochs: float = Field(1.0, gt=0)
    steps: int | None = Field(None, ge=1)
    minutes: float | None = Field(None, gt=0)

    @property
    def reranks(self) -> bool:
        """Whether the stage trains a cross-encoder."""
        return self.objective.trains_cross_encoder

    @model_validator(mode="after")
    def _view_fits(self) -> Stage:
        if self.reranks != isinstance(self.view, Manipulations):
            raise ValueError("the view manipulations and the objective manipulation go together")
        return self


class Refit(Options):
    """Train the kept heads further once the encoder is finished, on vectors that are encoded once.

    Attributes:
        pairs: The number of training pairs, over all groups.
        even_sources: Whether to take equally many pairs from each source, as far as it has them; otherwise sources with
            more rows give more.
        passes: The number of passes over the pairs.
        batch_size: Training pairs per step.
        rate: The learning rate, which falls to zero.
        temperature: The temperature of the loss.
        weight_decay: The weight decay of the optimizer.
    """

    pairs: int = Field(150_000, ge=2)
    even_sources: bool = False
    passes: int = Field(8, ge=1)
    batch_size: int = Field(2_048, ge=2)
    rate: float = Field(1e-3, gt=0)
    temperature: float = Field(0.05, gt=0)
    weight_decay: float = Field(0.01, ge=0)


class Recipe(Options):
    """Everything that decides a training run.

    Attributes:
        name: The method's name.
        model: The base model.
        stages: The stages, in order.
        keep_heads: Whether the model keeps the context head and the reply head of the last stage, or its layer for
            templates.
        refit: How to train the kept heads further at the end; None leaves them as they are after the last stage.
        adapt: Settings to override when you adapt a trained model (`--adapt`).
        seed: The random seed, also for the order of the data.
        bf16: Whether to compute in bfloat16; `auto` where the machine is fast at it.
        evaluate_every: The number of steps between validations; 0 validates only at the end.
        save_every: The number of steps between checkpoints.
        report_to: Where to log curves: tensorboard, any other integration of transformers, or none.
    """

    name: str
    model: ModelOptions = ModelOptions()
    stages: list[Stage] = Field(min_length=1)
    keep_heads: bool = False
    refit: Refit | None = None
    adapt: dict[str, str | int | float] = Field(default_factory=dict)
    seed: int = 0
    bf16: bool | Literal["auto"] = "auto"
    evaluate_every: int = Field(0, ge=0)
    save_every: int = Field(500, ge=1)
    report_to: str = "tensorboard"

    @property
    def computes_in_bf16(self) -> bool:
        """Whether training on this machine computes in bfloat16."""
        return computes_bf16_fast() if self.bf16 == "auto" else self.bf16

    @property
    def reranks(self) -> bool:
        """Whether the result is a cross-encoder."""
        return self.stages[-1].reranks

    @model_validator(mode="after")
    def _cross_encoder_last(self) -> Recipe:
        kinds = [stage.reranks for stage in self.stages]
        if kinds != sorted(kinds):
            raise ValueError("a cross-encoder is no encoder again: stages of the objective manipulation come last")
        return self


def recipe_names() -> list[str]:
    """Return the names of the recipes that come with Turnloom."""
    folder = resources.files("turnloom") / "recipes"
    return sorted(path.name.removesuffix(".yaml") for path in folder.iterdir() if path.name.endswith(".yaml"))


def recipe_text(name: str) -> str:
    """Return the YAML text of a recipe that comes with Turnloom, with its comments.

    Example:
        >>> "kind: consecutive" in recipe_text("dse")
        True
    """
    if name not in recipe_names():
        hint = f"{did_you_mean(name, recipe_names())} there are {', '.join(recipe_names())}"
        raise TurnloomError(f"there is no recipe {name!r}", hint.lstrip())
    return (resources.files("turnloom") / "recipes" / f"{name}.yaml").read_text(encoding="utf-8")


def _set(tree: Any, path: str, value: str) -> None:
    """Override one setting of a recipe, named by its path: `stages.0.batch_size`."""
    *parents, last = path.split(".")
    try:
        for part in parents:
            tree = tree[int(part)] if isinstance(tree, list) else tree.setdefault(part, {})
        parsed = value if path == "model.start" else _number(yaml.safe_load(value))
        if isinstance(tree, list):
            tree[int(last)] = parsed
        else:
            tree[last] = parsed
    except yaml.YAMLError as error:
        raise TurnloomError(f"--set {path}: {value!r} is not valid YAML", "check brackets and quotes") from error
    except (KeyError, IndexError, ValueError, AttributeError, TypeError) as error:
        raise TurnloomError(f"--set {path}: there is no such setting", "name it as stages.0.batch_size=256") from error


def _number(value: Any) -> Any:
    """Convert text like 2e-5, which YAML does not read as a number."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return value


def trained_on_vectors(source: str) -> str | None:
    """Return what a recipe trains on vectors: `conversation` or `rerank`; None for a model trained on texts."""
    tree = _tree(source)
    return tree.get("trains") if isinstance(tree, dict) else None


def _tree(source: str) -> Any:
    path = Path(source)
    from_file = path.suffix in (".yaml", ".yml")
    if from_file and not path.is_file():
        raise TurnloomError(f"{source} is not a file", "'turnloom init-config dse' prints a recipe to start from")
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8") if from_file else recipe_text(source))
    except yaml.YAMLError as error:
        raise TurnloomError(
            f"{source} is not valid YAML ({str(error).splitlines()[0]})", "check its indentation"
        ) from error


@overload
def load_recipe(source: str, changes: dict[str, str] | None = None, *, adapt: bool = False) -> Recipe: ...
@overload
def load_recipe(
    source: str, changes: dict[str, str] | None = None, *, adapt: bool = False, schema: type[AnyRecipe]
) -> AnyRecipe: ...
def load_recipe(
    source: str, changes: dict[str, str] | None = None, *, adapt: bool = False, schema: type[Any] = Recipe
) -> Any:
    """Load a recipe by name or from a YAML file, and override some settings.

    Args:
        source: The name of a recipe that comes with Turnloom, or the path of a YAML file.
        changes: New values by path, as with `--set`.
        adapt: Whether to apply the recipe's own overrides for adapting a trained model.
        schema: The type of recipe; `ConversationRecipe` or `RerankRecipe` for one that trains on vectors.
    """
    tree = _tree(source)
    own: dict[str, Any] = (tree.get("adapt") or {}) if adapt and isinstance(tree, dict) else {}
    if not own and adapt:
        raise TurnloomError(f"the recipe {source!r} does not say how to adapt", "take 'turnloom', or leave --adapt out")
    for place, value in [*own.items(), *(changes or {}).items()]:
        _set(tree, place, str(value))
    try:
        return schema.model_validate(tree)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise TurnloomError(
            f"{source}, {place}: {first['msg']}", "see 'turnloom init-config' for what is allowed there"
        ) from error
