"""All views, told apart by `kind`, so that a recipe can say ``view: {kind: windows, sizes: [1, 2, 3]}``.

Example:
    >>> from pydantic import TypeAdapter
    >>> TypeAdapter(ViewOptions).validate_python({"kind": "windows", "sizes": [1, 2]}).groups
    ('window-1', 'window-2')
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from turnwise.views.consecutive import Consecutive
from turnwise.views.context_response import ContextResponse
from turnwise.views.dropout import Dropout
from turnwise.views.labelled_pairs import LabelledPairs
from turnwise.views.manipulations import Manipulations
from turnwise.views.matching import Matching
from turnwise.views.packed import Packed
from turnwise.views.shared_replies import SharedReplies
from turnwise.views.template_rows import Templates
from turnwise.views.windows import Windows

__all__ = ["ViewOptions"]

ViewOptions = Annotated[
    Consecutive
    | Windows
    | Dropout
    | ContextResponse
    | LabelledPairs
    | Manipulations
    | Matching
    | Packed
    | SharedReplies
    | Templates,
    Field(discriminator="kind"),
]
"""The type of a pydantic model's field that takes any view."""
