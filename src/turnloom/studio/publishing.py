"""Make a running service's intents those of the studio, by its API, and go back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import httpx
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from turnloom.corpus.labelled import OUT_OF_SCOPE
from turnloom.errors import TurnloomError
from turnloom.files import write_whole
from turnloom.intents.examples import alike
from turnloom.journal import locked
from turnloom.service.scrubbing import scrubbed
from turnloom.studio.exports import Example
from turnloom.studio.folder import PUBLISHED

SECONDS = 60.0
AT_A_TIME = 32
Examples = dict[str, list[list[str]]]
"""The examples of each intent, each as turns."""


class Version(BaseModel):
    """What one publication changed.

    Attributes:
        version: Its number, from 1.
        when: When it was published.
        url: The service.
        before: The examples of each intent that the service had.
        after: Those that it has since.
        descriptions: What intents were called.
    """

    model_config = ConfigDict(extra="forbid")

    version: int
    when: str = Field(default_factory=lambda: datetime.now(timezone.utc).isoformat(timespec="seconds"))
    url: str
    before: Examples
    after: Examples
    descriptions: dict[str, str] = {}


class Change(BaseModel):
    """What makes a service's intents the wanted ones.

    Attributes:
        add: Examples to add, and their intent.
        remove: Examples to remove.
        drop: Intents to remove.
        new: Intents that the service does not know.
    """

    add: list[tuple[list[str], str]]
    remove: list[list[str]]
    drop: list[str]
    new: list[str]

    def sentence(self) -> str:
        """Say what it changes."""
        parts = [
            f"{len(self.add):,} examples to add" if self.add else "",
            f"{len(self.remove):,} to remove" if self.remove else "",
            f"new intents: {', '.join(self.new)}" if self.new else "",
            f"intents to remove: {', '.join(self.drop)}" if self.drop else "",
        ]
        return "; ".join(filter(None, parts)) or "Nothing: the service has these intents already"


def difference(now: Examples, wanted: Examples) -> Change:
    """Return what makes a service's intents the wanted ones."""
    held = {_key(intent, turns) for intent, turns in _pairs(now)}
    meant = {_key(intent, turns) for intent, turns in _pairs(wanted)}
    remove = [turns for intent, turns in _pairs(now) if intent in wanted and _key(intent, turns) not in meant]
    # Removing goes by text: whatever else such a text is an example of is added again.
    gone = {alike(tuple(turns)) for turns in remove}
    add = [
        (turns, intent)
        for intent, turns in _pairs(wanted)
        if _key(intent, turns) not in held or alike(tuple(turns)) in gone
    ]
    drop = [intent for intent in now if intent not in wanted]
    return Change(add=add, remove=remove, drop=drop, new=[intent for intent in wanted if intent not in now])


def _pairs(examples: Examples) -> Iterator[tuple[str, list[str]]]:
    return ((intent, turns) for intent, each in examples.items() for turns in each)


def _key(intent: str, turns: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    return intent, alike(tuple(turns))


def wanted_of(examples: Sequence[Example]) -> Examples:
    """Return what a service should have: examples without personal data, those that fit no intent left out."""
    wanted: Examples = {}
    for turns, intent in examples:
        if intent != OUT_OF_SCOPE:
            clean = scrubbed(list(turns))
            kept = wanted.setdefault(intent, [])
            if clean not in kept:
                kept.append(clean)
    return wanted


class Service:
    """The intents of a running service.

    Args:
        url: Its address.
        key: A key that may write intents; empty if it needs none.
    """

    def __init__(self, url: str, key: str = "") -> None:
        if not url.startswith(("http://", "https://")):
            raise TurnloomError(f"{url!r} is no address of a service", "write it as http://localhost:8000")
        self.url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}

    def examples(self) -> Examples:
        """Return the examples of each intent.

        Raises:
            TurnloomError: If the service refuses, or cannot be reached.
        """
        intents = [row["intent"] for row in self._ask("GET", "/v1/intents")["intents"]]
        return {
            intent: self._ask("GET", "/v1/intents/examples", params={"intent": intent})["examples"]
            for intent in intents
        }

    def apply(self, change: Change, descriptions: Mapping[str, str]) -> None:
        """Change the intents: new examples come before old ones go, so that no intent is ever without any.

        Raises:
            TurnloomError: If the service refuses, or cannot be reached.
        """
        gone = {alike(tuple(turns)) for turns in change.remove}
        self._add([one for one in change.add if alike(tuple(one[0])) not in gone], descriptions)
        for part in _parts(change.remove):
            self._ask("POST", "/v1/intents/examples/remove", json={"messages": part})
        self._add([one for one in change.add if alike(tuple(one[0])) in gone], descriptions)
        for part in _parts(change.drop):
            self._ask("POST", "/v1/intents/examples/remove", json={"intents": part})

    def _add(self, examples: Sequence[tuple[list[str], str]], descriptions: Mapping[str, str]) -> None:
        for part in _parts(examples):
            rows = [
                {"message": turns, "intent": intent}
                | ({"description": descriptions[intent]} if descriptions.get(intent) else {})
                for turns, intent in part
            ]
            self._ask("POST", "/v1/intents/examples", json={"examples": rows})

    def _ask(self, method: str, path: str, **options: Any) -> Any:
        try:
            with httpx.Client(timeout=SECONDS, headers=self._headers) as client:
                answer = client.request(method, self.url + path, **options)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise TurnloomError(f"{self.url} does not answer ({error})", "start it with: turnloom serve") from error
        try:
            found = answer.json()
        except ValueError:
            found = {}
        if not answer.is_success:
            said = found.get("error", {}).get("message", answer.reason_phrase) if isinstance(found, dict) else ""
            fix = (
                "give a key with the scopes intents and intents:write"
                if answer.status_code in (401, 403)
                else ("see the service's log; publishing again goes on where this ended")
            )
            raise TurnloomError(f"{self.url}{path} answers {answer.status_code} ({said})", fix)
        return found


def _parts(items: Sequence[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(items), AT_A_TIME):
        yield list(items[start : start + AT_A_TIME])


class Publisher:
    """Publishes a studio's intents, and remembers every version.

    Args:
        folder: The studio's folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / PUBLISHED

    def versions(self) -> list[Version]:
        """Return what was published, oldest first.

        Raises:
            TurnloomError: If a version cannot be read.
        """
        return [_read_version(path) for path in sorted(self._folder.glob("*.json"))]

    def publish(self, service: Service, wanted: Examples, descriptions: Mapping[str, str] | None = None) -> Version:
        """Make the service's intents the wanted ones.

        The version is on disk before the service is asked: whatever happens, there is a way back.

        Raises:
            TurnloomError: If nothing is wanted, or the service refuses.
        """
        if not wanted:
            raise TurnloomError("there is nothing to publish", "make an intent of a group under Groups")
        self._folder.mkdir(parents=True, exist_ok=True)
        with locked(self._folder / "publishing.lock"):
            before = service.examples()
            number = max((version.version for version in self.versions()), default=0) + 1
            made = Version(
                version=number, url=service.url, before=before, after=wanted, descriptions=dict(descriptions or {})
            )
            write_whole(self._folder / f"{number:05d}.json", json.dumps(made.model_dump(), ensure_ascii=False) + "\n")
            service.apply(difference(before, wanted), made.descriptions)
        return made

    def go_back(self, service: Service) -> Version:
        """Publish what the service had before the last publication to it.

        Raises:
            TurnloomError: If nothing was published there, or the service refuses.
        """
        last = next((version for version in reversed(self.versions()) if version.url == service.url), None)
        if last is None:
            raise TurnloomError(f"nothing was published to {service.url} from here", "publish something first")
        return self.publish(service, last.before)


def _read_version(path: Path) -> Version:
    try:
        return Version.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise TurnloomError(f"{path} cannot be read", "restore it, or move it away") from error
