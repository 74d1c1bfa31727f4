"""Turnwise: dialogue embeddings from raw conversations, and the tools that put them to work.

Importing this package does no work and loads no heavy dependency; import the part you need,
for example ``from turnwise.corpus import read_table``.
"""

__version__ = "0.1.0"

__all__ = ["__version__"]
