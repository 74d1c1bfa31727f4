"""See your conversations: a named hierarchy of what people say, a flow graph, and what changes over time."""

from __future__ import annotations

from turnloom.discovery.folder import load_discovery, save_discovery
from turnloom.discovery.hierarchy import Discovery, Group, Summary, discover
from turnloom.discovery.messages import MessageOptions, Messages, encode_messages, read_messages
from turnloom.discovery.names import GroupName, Namer, name_groups
from turnloom.discovery.phrases import find_parser
from turnloom.discovery.tables import discover_table

__all__ = [
    "Discovery",
    "Group",
    "GroupName",
    "MessageOptions",
    "Messages",
    "Namer",
    "Summary",
    "discover",
    "discover_table",
    "encode_messages",
    "find_parser",
    "load_discovery",
    "name_groups",
    "read_messages",
    "save_discovery",
]
