"""Personal data beside characters that need no space before it."""

from __future__ import annotations

import pyarrow as pa
import pytest

from turnloom.corpus.privacy.patterns import scrub_text, scrub_texts

TEXTS = {
    "我的邮箱是jo@example.com谢谢": "我的邮箱是<EMAIL>谢谢",
    "请打电话13812345678给我": "请打电话<PHONE>给我",
    "手机：138-1234-5678，急": "手机：<PHONE>，急",
    "看https://example.com/a?token=kx81吧": "看<URL>吧",
    "看https://example.com/help吧": "看https://example.com/help吧",
    "カード4111111111111111で払いました": "カード<CARD>で払いました",
    "メールはjo@example.comです": "メールは<EMAIL>です",
    "제 메일은 jo@example.com입니다": "제 메일은 <EMAIL>입니다",
    "อีเมลjo@example.comครับ": "อีเมล<EMAIL>ครับ",
    "बुला लो, फ़ोन 98765 43210 पर": "बुला लो, फ़ोन <PHONE> पर",
    "بريدي jo@example.com شكرا": "بريدي <EMAIL> شكرا",
    "Meine Mail ist jo@example.com, danke": "Meine Mail ist <EMAIL>, danke",
    "llámame al móvil 612 34 56 78 por favor": "llámame al móvil <PHONE> por favor",
    "订单2024还没到": "订单2024还没到",
    "iPhone15有货吗": "iPhone15有货吗",
}


@pytest.mark.parametrize("text", TEXTS)
def test_it_is_found_exactly(text: str) -> None:
    assert scrub_text(text)[0] == TEXTS[text]


def test_columns_are_scrubbed_alike_and_only_once() -> None:
    scrubbed, _ = scrub_texts(pa.array(list(TEXTS)))
    assert scrubbed.to_pylist() == list(TEXTS.values())
    assert scrub_texts(scrubbed)[0].to_pylist() == list(TEXTS.values())
