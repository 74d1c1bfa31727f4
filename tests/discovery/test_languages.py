"""Names and keywords of groups in other languages."""

from __future__ import annotations

import pytest

from turnloom.discovery.keywords import is_english, rank_keywords
from turnloom.discovery.languages import FUNCTION_WORDS
from turnloom.discovery.names import name_groups

GROUPS = {
    "Chinese": (
        ["我想取消我的订单", "请问怎么取消订单？", "取消订单12"],
        ["我的包裹在哪里", "包裹还没到", "查一下包裹"],
        ("取消订单", "包裹"),
    ),
    "Japanese": (
        ["注文をキャンセルしたいです", "注文のキャンセルはできますか", "キャンセルお願いします"],
        ["荷物が届きません", "荷物はどこですか", "荷物の追跡"],
        ("キャンセル", "荷物"),
    ),
    "German": (
        [
            "Ich möchte meine Bestellung stornieren",
            "kann ich die Bestellung stornieren?",
            "Bestellung stornieren bitte",
        ],
        ["Wo ist mein Paket?", "mein Paket ist noch nicht da", "das Paket kommt nicht an"],
        ("bestellung stornieren", "paket"),
    ),
    "Spanish": (
        ["quiero cancelar mi pedido", "¿cómo puedo cancelar el pedido?", "necesito cancelar un pedido"],
        ["¿dónde está mi paquete?", "el paquete no ha llegado", "mi paquete no llega"],
        ("cancelar pedido", "paquete"),
    ),
    "Arabic": (
        ["أريد إلغاء طلبي", "كيف يمكنني إلغاء الطلب؟", "إلغاء الطلب من فضلك"],
        ["أين طردي؟", "طردي لم يصل", "متى يصل طردي"],
        ("إلغاء الطلب", "طردي"),
    ),
    "Hindi": (
        ["मुझे अपना ऑर्डर रद्द करना है", "ऑर्डर रद्द कैसे करें?", "मेरा ऑर्डर रद्द करें"],
        ["मेरा पार्सल कहाँ है?", "पार्सल अभी तक नहीं आया", "पार्सल कब आएगा"],
        ("ऑर्डर रद्द", "पार्सल"),
    ),
}


@pytest.mark.parametrize("language", GROUPS)
def test_groups_are_named_by_what_they_share(language: str) -> None:
    one, other, expected = GROUPS[language]
    assert tuple(group.name for group in name_groups([one, other])) == expected


@pytest.mark.parametrize("language", GROUPS)
def test_keywords_are_whole_words(language: str) -> None:
    one, other, _ = GROUPS[language]
    said = " ".join([*one, *other]).lower()
    assert all(word in said for ranked in rank_keywords([one, other]) for found in ranked for word in found.phrase)


def test_english_is_read_as_english() -> None:
    texts = ["where is my parcel", "van rental", "refund", "cancel me", "plus size", "café opening hours", "my son"]
    assert all(map(is_english, texts))
    assert not any(is_english(text) for one, other, _ in GROUPS.values() for text in (*one[:2], *other[:2]))


def test_function_words_are_in_lower_case_and_whole() -> None:
    assert len(FUNCTION_WORDS) == 10
    assert all(word == word.lower() and " " not in word for words in FUNCTION_WORDS.values() for word in words)
