"""All views, told apart by `kind`, so that a recipe can say ``view: {kind: windows, sizes: [1, 2, 3]}``.

Other packages add views of their own by entry points of the group `turnloom.views`.

Example:
    >>> from pydantic import TypeAdapter
    >>> TypeAdapter(ViewOptions).validate_python({"kind": "windows", "sizes": [1, 2]}).groups
    ('window-1', 'window-2')
"""

from __future__ import annotations

from typing import Annotated

from turnloom.plugins import KindOfOption, Plugin
from turnloom.views.consecutive import Consecutive
from turnloom.views.context_response import ContextResponse
from turnloom.views.dialogue_view import DialogueView
from turnloom.views.dropout import Dropout
from turnloom.views.labelled_pairs import LabelledPairs
from turnloom.views.manipulations import Manipulations
from turnloom.views.matching import Matching
from turnloom.views.packed import Packed
from turnloom.views.shared_replies import SharedReplies
from turnloom.views.template_rows import Templates
from turnloom.views.view import View
from turnloom.views.windows import Windows

__all__ = ["GROUP", "ViewOptions"]

GROUP = "turnloom.views"

_OWN: dict[str, type[View]] = {
    view.model_fields["kind"].default: view
    for view in (
        Consecutive,
        Windows,
        Dropout,
        ContextResponse,
        LabelledPairs,
        Manipulations,
        Matching,
        Packed,
        SharedReplies,
        Templates,
    )
}


def _view_of(plugin: Plugin) -> type[DialogueView]:
    """The class of a view that another package adds."""
    view = plugin.load()
    if not isinstance(view, type) or not issubclass(view, DialogueView):
        raise plugin.broken("is no subclass of turnloom.views.DialogueView")
    field = view.model_fields.get("kind")
    if field is None or field.default != plugin.name:
        raise plugin.broken(f"says otherwise what it is called: it needs kind: Literal[{plugin.name!r}] with a default")
    return view


ViewOptions = Annotated[View, KindOfOption(GROUP, _OWN.get, lambda: list(_OWN), _view_of)]
"""The type of a pydantic model's field that takes any view."""
