from __future__ import annotations

import pytest

from turnloom.words import estimate_words, is_unspaced, split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("我的包裹在哪里？", ["我", "的", "包", "裹", "在", "哪", "里"]),
        ("أين طردي؟", ["أين", "طردي"]),
        ("Wo ist mein Päckchen?", ["Wo", "ist", "mein", "Päckchen"]),
        ("荷物はどこ", ["荷", "物", "は", "ど", "こ"]),
        ("मेरा पार्सल कहाँ है?", ["मेरा", "पार्सल", "कहाँ", "है"]),
        ("¿Dónde está mi paquete?", ["Dónde", "está", "mi", "paquete"]),
        ("order 12 取消", ["order", "12", "取", "消"]),
        ("cafe\u0301", ["cafe\u0301"]),
    ],
)
def test_words_of_six_languages(text: str, words: list[str]) -> None:
    assert split_words(text) == words


def test_two_characters_without_spaces_are_about_a_word() -> None:
    assert [estimate_words(text) for text in ("", "ok", "我要取消订单", "你好，Anna！", "¿qué tal?")] == [0, 1, 3, 2, 2]


def test_only_scripts_without_spaces_are_called_so() -> None:
    assert [is_unspaced(text) for text in ("注文", "คำสั่งซื้อ", "주문", "заказ", "طلب")] == [
        True,
        True,
        False,
        False,
        False,
    ]
