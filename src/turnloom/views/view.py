"""What every view has: options that a recipe can say, and what building and reading need to know about its rows."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["View"]


class View(BaseModel):
    """A view; its fields are what a recipe may say, its properties follow from them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @property
    def groups(self) -> tuple[str, ...]:
        """The names of the groups that rows are written in; one without a name unless a view says otherwise."""
        return ("",)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of every row."""
        return ("context", "reply", "frequency", "source")

    @property
    def has_reply(self) -> bool:
        """Whether rows have a reply."""
        return "reply" in self.columns

    @property
    def tokens(self) -> list[str]:
        """What texts hold that no tokenizer knows: marks of speakers, for instance."""
        return []

    @property
    def context_turns(self) -> int | None:
        """The most turns that are read together as one context; None for any number."""
        return 1

    @property
    def one_per_text(self) -> bool:
        """Whether of rows with the same reply only one is kept."""
        return False
