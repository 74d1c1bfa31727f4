"""The service configuration: one YAML file, validated as a whole before anything is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_validator, model_validator

from turnloom.errors import TurnloomError
from turnloom.service.hosts import is_loopback
from turnloom.service.scopes import KeyScope


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ServedModel(_Part):
    """A model that is served.

    Attributes:
        path: Its folder: a SentenceTransformer, a CrossEncoder, or an export from `turnloom export`.
        name: The name for clients; by default the folder's name.
        threads: Compute threads per worker; by default one per core.
    """

    path: Path
    name: str | None = None
    threads: int | None = Field(None, ge=1)

    @property
    def called(self) -> str:
        """Its name."""
        return self.name or self.path.resolve().name


class IntentOptions(_Part):
    """The intent classifier to serve.

    Attributes:
        folder: The folder that `turnloom intents fit` wrote.
    """

    folder: Path


class ReplyServing(_Part):
    """The reply index to serve, and how new conversations are added.

    Attributes:
        folder: The folder that `turnloom replies build` wrote.
        mode: How to search unless a request says so: hybrid, vector, typical, text, contexts or all.
        min_score: Suggest nothing below this score, unless a request names a mode; for mode typical.
        add_every_seconds: How often to index newly accepted conversations.
        max_pending: The most conversations that may wait for indexing; beyond that, new ones are refused.
    """

    folder: Path
    mode: Literal["hybrid", "vector", "typical", "text", "contexts", "all"] = "hybrid"
    min_score: float | None = None
    add_every_seconds: float = Field(5.0, gt=0)
    max_pending: int = Field(10_000, ge=1)

    @model_validator(mode="after")
    def _scores_compare(self) -> ReplyServing:
        if self.min_score is not None and self.mode != "typical":
            raise ValueError("min_score needs mode: typical; other scores compare replies of one search alone")
        return self


class ConversationMemory(_Part):
    """How many conversations are remembered, so that only their new turns are encoded.

    Attributes:
        most: The most conversations per worker; the ones not used for longest are forgotten first.
        seconds: How long a conversation is remembered after its last message.
    """

    most: int = Field(10_000, ge=1)
    seconds: float = Field(1_800.0, gt=0)


class Batching(_Part):
    """How texts of many requests share one model run.

    Attributes:
        max_batch_tokens: The most tokens per batch; four characters count as one token.
        max_wait_ms: How long a single request waits for others to share its batch.
    """

    max_batch_tokens: int = Field(2_048, ge=16)
    max_wait_ms: float = Field(2.0, ge=0, le=1_000)


class Limits(_Part):
    """Limits for a single request.

    Attributes:
        body_bytes: The maximum body size.
        json_depth: The maximum nesting depth of its JSON.
        texts: The maximum number of texts, documents, messages, examples or conversations.
        characters: The maximum length of one text.
        turns: The maximum number of turns per conversation.
        tokens: The maximum number of tokens to compute; four characters count as one token.
        wait_seconds: A request that would wait longer for its turn gets status 429 at once; a large one may wait three
            times as long as it takes itself.
        request_seconds: A request that takes longer gets status 504.
        drain_seconds: How long a stopping worker still accepts requests while it reports that it is not ready.
    """

    body_bytes: int = Field(1_000_000, ge=1_000)
    json_depth: int = Field(16, ge=4, le=100)
    texts: int = Field(256, ge=1)
    characters: int = Field(20_000, ge=1)
    turns: int = Field(200, ge=1)
    tokens: int = Field(16_384, ge=64)
    wait_seconds: float = Field(1.0, gt=0)
    request_seconds: float = Field(30.0, gt=0)
    drain_seconds: float = Field(2.0, ge=0)


class KeyEntry(_Part):
    """An API key, stored as a hash.

    Attributes:
        name: The key's name in logs and metrics.
        hash: SHA-256 of the key, as `turnloom serve --new-key NAME` prints it.
        scopes: The scopes that the key grants.
        tenant: Whose data it reaches: that in this tenant's folder and nothing else. Without one, the service's own.
        requests_per_minute: The rate limit over all workers together; None for no limit.
        tokens_per_minute: The same for the tokens of its requests.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")
    hash: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")
    scopes: frozenset[KeyScope]
    # No dots, slashes or capitals: each name is one folder, on every file system.
    tenant: str | None = Field(None, pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")
    requests_per_minute: float | None = Field(None, gt=0)
    tokens_per_minute: float | None = Field(None, gt=0)

    @model_validator(mode="after")
    def _tenants_do_not_operate(self) -> KeyEntry:
        if self.tenant is not None and "admin" in self.scopes:
            raise ValueError("a tenant's key cannot have the scope admin, which concerns all tenants")
        return self


class Logs(_Part):
    """What is logged.

    Attributes:
        level: The lowest level to log.
        texts: Whether to log request bodies. They contain what users wrote, so this is off by default.
    """

    level: Literal["debug", "info", "warning", "error"] = "info"
    texts: bool = False


class Telemetry(_Part):
    """Where to send traces and metrics by OpenTelemetry. The standard variables `OTEL_*` set everything else.

    Attributes:
        endpoint: The address of a collector that takes OTLP over HTTP, without `/v1/traces`.
    """

    endpoint: str = Field(pattern=r"^https?://[^\s/?#]+(/[^\s?#]*)?$")


class ServiceConfig(_Part):
    """The whole configuration; paths are relative to its file.

    Attributes:
        host: The address to listen on.
        port: The port.
        workers: The number of processes, each with its own copy of the models.
        state: The folder for state that changes: added examples, accepted conversations, rate limits.
        snapshots: The folder for snapshots.
        tenants: The folder of tenants, with one folder per tenant: `NAME/intents`, `NAME/replies` and `NAME/state`.
        allowed_folders: Models, intents and replies must be inside one of these folders.
        model: The encoder.
        reranker: The cross-encoder, if any.
        intents: The intent classifier, if any.
        replies: The reply index, if any.
        batching: How requests share model runs.
        limits: Limits for a single request.
        keys: API keys. Without any, the service listens on this machine only and allows everything.
        hosts: Names that clients may call the service by, besides `host` and those of this machine. Checked if there
            are no keys, so that no web page can reach it under a name of its own; with keys only if some are listed.
        scrub: Whether personal data in added conversations and examples is replaced by placeholders before it is saved,
            as `turnloom prepare` does.
        cors_origins: Origins whose web pages may call the service; `*` is refused.
        logs: What is logged.
        telemetry: Where to send traces and metrics; by default nowhere.
        page: Whether to serve the web page at /.
    """

    host: str = "127.0.0.1"
    port: int = Field(8000, ge=0, le=65_535)
    workers: int = Field(1, ge=1)
    state: Path = Path("state")
    snapshots: Path = Path("snapshots")
    tenants: Path = Path("tenants")
    allowed_folders: tuple[Path, ...] = (Path(),)
    model: ServedModel
    reranker: ServedModel | None = None
    intents: IntentOptions | None = None
    replies: ReplyServing | None = None
    conversations: ConversationMemory = ConversationMemory()
    batching: Batching = Batching()
    limits: Limits = Limits()
    keys: tuple[KeyEntry, ...] = ()
    hosts: tuple[str, ...] = ()
    cors_origins: tuple[str, ...] = ()
    scrub: bool = True
    logs: Logs = Logs()
    telemetry: Telemetry | None = None
    page: bool = True
    _written: tuple[ServiceConfig, Path, dict[str, Any]] | None = PrivateAttr(None)

    @field_validator("cors_origins")
    @classmethod
    def _no_wildcard(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            if "*" in origin or not origin.startswith(("http://", "https://")):
                raise ValueError(f"{origin!r} is no origin; write it as https://example.org, without *")
        return origins

    @model_validator(mode="after")
    def _whole(self) -> ServiceConfig:
        if len({key.name for key in self.keys}) < len(self.keys):
            raise ValueError("two keys have the same name")
        if len({key.hash for key in self.keys}) < len(self.keys):
            raise ValueError("two keys have the same hash; make one with: turnloom serve --new-key NAME")
        if not self.keys and not is_loopback(self.host):
            raise ValueError("without keys only 127.0.0.1 is served; add a key or listen there")
        return self

    def following_links(self) -> ServiceConfig:
        """Resolve and check its paths again, unless a copy changed them: links may lead to other folders by now."""
        if self._written is None:
            return self
        again = self._written[0].within(self._written[1])
        same = [part for part, resolved in self._written[2].items() if getattr(self, part) == resolved]
        return self.model_copy(update={part: getattr(again, part) for part in same})

    def within(self, folder: Path) -> ServiceConfig:
        """Resolve all paths against a folder, and check that they are inside the allowed folders.

        Raises:
            TurnloomError: If a model, the intents, the replies or the tenants are outside.
        """
        allowed = tuple((folder / path).resolve() for path in self.allowed_folders)

        def inside(part: str, path: Path) -> Path:
            path = (folder / path).resolve()
            if not any(path.is_relative_to(above) for above in allowed):
                raise TurnloomError(f"{part}: {path} is not below an allowed folder", "add it to allowed_folders")
            return path

        changes: dict[str, Any] = {"allowed_folders": allowed}
        changes |= {name: (folder / getattr(self, name)).resolve() for name in ("state", "snapshots")}
        for part, field in (("model", "path"), ("reranker", "path"), ("intents", "folder"), ("replies", "folder")):
            value = getattr(self, part)
            if value is not None:
                changes[part] = value.model_copy(update={field: inside(part, getattr(value, field))})
        if self.tenant_names:
            changes["tenants"] = inside("tenants", self.tenants)
        resolved = self.model_copy(update=changes)
        resolved._written = (self, folder.absolute(), changes)
        return resolved

    @property
    def tenant_names(self) -> list[str]:
        """The tenants that have keys."""
        return sorted({key.tenant for key in self.keys if key.tenant is not None})

    def for_tenant(self, name: str) -> ServiceConfig:
        """Return the configuration of one tenant's data: that in its folder.

        Raises:
            TurnloomError: If there is no such folder, or something in it lies elsewhere.
        """
        folder = self.tenants / name
        if not folder.is_dir():
            raise TurnloomError(f"tenant {name}: there is no folder {folder}", "create it, or fix the tenant's name")
        for part in ("intents", "replies", "state"):
            # A link to another tenant's folder would be a way across.
            if not (folder / part).resolve().is_relative_to(folder):
                raise TurnloomError(f"tenant {name}: {folder / part} leads out of its folder", "copy the files there")
        parts: dict[str, Any] = {
            "intents": IntentOptions(folder=folder / "intents"),
            "replies": ReplyServing(**dict(self.replies or {}) | {"folder": folder / "replies"}),
        }
        there = {part: options if options.folder.is_dir() else None for part, options in parts.items()}
        return self.model_copy(update={**there, "state": folder / "state"})
