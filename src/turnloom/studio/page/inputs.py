"""Inputs whose choices others may change while somebody chooses.

Gradio refuses a whole request if a chosen value is no choice any more; here such a value is just not chosen.
"""

from __future__ import annotations

from abc import ABCMeta
from typing import Any

import gradio as gr


def _forgiving(base: Any, several: bool) -> Any:
    """Return a kind of input that forgets what is no choice any more."""

    def preprocess(self: Any, payload: Any) -> Any:
        there = {value for _, value in self.choices}
        if several:
            return base.preprocess(self, [value for value in payload or [] if value in there])
        return base.preprocess(self, payload if payload in there else None)

    members = {"preprocess": preprocess, "is_template": True, "__module__": __name__, "__doc__": base.__doc__}
    # Gradio's own metaclass would write a file beside this module for every class.
    return ABCMeta.__new__(type(base), base.__name__, (base,), members)


Checks = _forgiving(gr.CheckboxGroup, several=True)
"""Check some of several choices."""
Pick = _forgiving(gr.Dropdown, several=False)
"""Choose one of several from a list."""
Choice = _forgiving(gr.Radio, several=False)
"""Choose one of several that are all shown."""
