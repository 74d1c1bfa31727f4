"""A queue that is fair to the keys in it: the key that was served least is next."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

Item = TypeVar("Item")


class FairQueue(Generic[Item]):
    """Items wait in one line per key, first come first served; lines take turns by what their keys were charged.

    Example:
        >>> queue = FairQueue()
        >>> for item in ("big", "bigger"):
        ...     queue.push("greedy", item)
        >>> queue.charge("greedy", 100)
        >>> queue.push("modest", "small")
        >>> queue.pop()
        'small'
    """

    def __init__(self) -> None:
        self._lines: dict[str, deque[Item]] = {}
        self._charged: dict[str, float] = {}
        self._level = 0.0

    def __len__(self) -> int:
        return sum(map(len, self._lines.values()))

    def __iter__(self) -> Iterator[Item]:
        for line in self._lines.values():
            yield from line

    def push(self, key: str, item: Item) -> None:
        """Add an item to the end of its key's line."""
        if key not in self._lines:
            # A key that asked for nothing saves nothing up: it starts level with the one that is served now.
            self._charged[key] = max(self._charged.get(key, 0.0), self._level)
            self._lines[key] = deque()
        self._lines[key].append(item)

    def pop(self, fits: Callable[[Item], bool] = lambda _: True) -> Item | None:
        """Remove and return the next item that fits; None if there is none."""
        for key in sorted(self._lines, key=self._charged.__getitem__):
            item = next((item for item in self._lines[key] if fits(item)), None)
            if item is not None:
                self._level = max(self._level, self._charged[key])
                self.remove(key, item)
                return item
        return None

    def remove(self, key: str, item: Item) -> bool:
        """Remove an item; return whether it was there."""
        line = self._lines.get(key, deque())
        if item not in line:
            return False
        line.remove(item)
        if not line:
            del self._lines[key]
        return True

    def charge(self, key: str, cost: float) -> None:
        """Count what a key was given."""
        self._charged[key] = self._charged.get(key, self._level) + cost
