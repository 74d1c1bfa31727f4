"""Logs in an object store: the S3 protocol, spoken by a server on loopback."""

from __future__ import annotations

import gzip
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.corpus.test_convert import log_lines
from turnloom.corpus import convert, find_logs
from turnloom.errors import TurnloomError


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    import boto3
    from moto.server import ThreadedMotoServer

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = ThreadedMotoServer("127.0.0.1", port, verbose=False)
    server.start()
    url = f"http://127.0.0.1:{port}"
    for name, value in {
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "y",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    client = boto3.client("s3", endpoint_url=url)
    client.create_bucket(Bucket="logs")
    for part in range(4):
        body = gzip.compress(b"".join(log_lines(number) for number in range(200)))
        client.put_object(Bucket="logs", Key=f"2024/chat{part}.jsonl.gz", Body=body)
    yield "s3://logs"
    server.stop()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # boto3 and moto warn about themselves.
def test_logs_in_s3(bucket: str, tmp_path: Path) -> None:
    conversion = convert(find_logs([f"{bucket}/2024/*.jsonl.gz"]), tmp_path / "out")
    assert conversion.manifest.dialogues == 800
    assert {file.source for file in conversion.files} == {"chat0", "chat1", "chat2", "chat3"}
    with pytest.raises(TurnloomError, match="matches no file"):
        find_logs([f"{bucket}/2023/*.jsonl"])
    with pytest.raises(TurnloomError, match="cannot be read"):
        find_logs([f"{bucket}/2024/nothing.jsonl"])
