"""All views, told apart by `kind`, so that a recipe can say ``view: {kind: windows, sizes: [1, 2, 3]}``.

Other packages add views of their own by entry points of the group `turnwise.views`.

Example:
    >>> from pydantic import TypeAdapter
    >>> TypeAdapter(ViewOptions).validate_python({"kind": "windows", "sizes": [1, 2]}).groups
    ('window-1', 'window-2')
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from turnwise.plugins import KindOfOption, Plugin
from turnwise.views.consecutive import Consecutive
from turnwise.views.context_response import ContextResponse
from turnwise.views.dropout import Dropout
from turnwise.views.labelled_pairs import LabelledPairs
from turnwise.views.manipulations import Manipulations
from turnwise.views.matching import Matching
from turnwise.views.packed import Packed
from turnwise.views.shared_replies import SharedReplies
from turnwise.views.spans import DialogueView
from turnwise.views.template_rows import Templates
from turnwise.views.windows import Windows

__all__ = ["GROUP", "ViewOptions"]

GROUP = "turnwise.views"

OwnViews = (
    Consecutive
    | Windows
    | Dropout
    | ContextResponse
    | LabelledPairs
    | Manipulations
    | Matching
    | Packed
    | SharedReplies
    | Templates
)


def _view_of(plugin: Plugin) -> type[DialogueView]:
    """The class of a view that another package adds."""
    view = plugin.load()
    if not isinstance(view, type) or not issubclass(view, DialogueView):
        raise plugin.broken("is no subclass of turnwise.views.DialogueView")
    field = view.model_fields.get("kind")
    if field is None or field.default != plugin.name:
        raise plugin.broken(f"says otherwise what it is called: it needs kind: Literal[{plugin.name!r}] with a default")
    return view


ViewOptions = Annotated[
    DialogueView | LabelledPairs | SharedReplies | Templates,
    KindOfOption(GROUP, Annotated[OwnViews, Field(discriminator="kind")], _view_of),
]
"""The type of a pydantic model's field that takes any view."""
