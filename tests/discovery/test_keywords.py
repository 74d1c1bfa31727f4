from __future__ import annotations

import re

import numpy as np
import pytest

from tests.discovery.toy import TopicEncoder
from turnloom.discovery import names as module


def name_groups(groups: list[list[str]]) -> list[str]:
    return [group.name for group in module.name_groups(groups)]


CANCEL = ["please cancel my order 1234", "hi, i want to cancel order 77", "can you cancel my order?"]
TRACK = ["my parcel hasn't arrived yet", "the parcel has not arrived", "parcel 12 has still not arrived"]


def test_names_are_what_is_said_in_its_order_without_numbers() -> None:
    assert name_groups([CANCEL, TRACK]) == ["cancel order", "parcel not arrived"]


@pytest.mark.parametrize(
    ("noisy", "name"),
    [
        ("@115911 <EMAIL> my refund is missing *HSD", "refund missing"),
        ("[EMAIL] [PHONE] my refund is missing ^TM", "refund missing"),
        ("__company__ #fail my refund &amp; my refund is missing https://t.co/xyz", "refund missing"),
        ("@AmericanAir refund missing #AmericanAir", "refund missing"),
    ],
)
def test_names_hold_no_handles_placeholders_or_signatures(noisy: str, name: str) -> None:
    assert name_groups([[noisy] * 4, CANCEL])[0] == name


def test_two_groups_never_have_one_name() -> None:
    again = ["please cancel order 5 of the teapot", "cancel my order of a teapot", "cancel the teapot order 9"]
    names = name_groups([CANCEL, again, CANCEL, CANCEL])
    assert len(set(names)) == 4
    assert "teapot" in names[1]
    assert not any(re.search(r"\d", name) for name in names)
    assert name_groups([["so", "so"]] * 30)[::29] == ["so", "so (ac)"]
    assert name_groups([["late"], ["is it late", "how late"], ["of"]]) == ["late", "is it late", "of"]


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        (["it arrived with a broken lid", "arrived with my lid open", "arrived with the lid"], "arrived with lid"),
        (["a refund for my order", "is there any refund for the order", "refund for order"], "refund for order"),
        (["the cup i got is broken", "this cup has been broken", "my broken cup"], "cup"),
        (["parcel TL12 damaged", "my parcel tl7 is damaged", "is parcel TL99 damaged"], "parcel damaged"),
    ],
)
def test_names_are_phrases_that_people_say(texts: list[str], name: str) -> None:
    assert name_groups([texts, CANCEL])[0] == name


def test_words_of_different_sentences_are_no_name() -> None:
    texts = ["the refund! you said the bank would do it", "a refund, i asked the bank", "refund when? ask the bank"]
    assert name_groups([texts, CANCEL])[0] in ("refund", "bank", "ask bank", "asked bank")


def test_a_lone_participle_is_no_name() -> None:
    texts = ["sent", "sent it", "sent a parcel", "sent the parcel"]
    encoder = TopicEncoder()
    centres = encoder.encode(["cancel", "invoice"])
    meaning = module.Meaning(encoder.encode, centres, np.zeros(32, np.float32))
    assert "parcel" in module.name_groups([texts, CANCEL], meaning=meaning)[0].name
    only = [["i have sent it to the new one", "sent it now"], CANCEL]
    assert module.name_groups(only, meaning=meaning)[0].name == "i have sent it"


def test_forms_of_one_word_are_not_joined() -> None:
    seats = ["my seat", "two seats", "seat and seats", "the seats"]
    assert name_groups([seats, CANCEL])[0] in ("seat", "seats")


def test_a_group_that_shares_no_characters_is_named_by_its_first_message() -> None:
    assert name_groups([["我的包裹在哪里", "包裹还没到"], ["我要退款", "请退钱给我"]]) == ["包裹", "我要退款"]
    assert name_groups([["the", "of"], ["...", "?"]]) == ["the", "..."]
    assert name_groups([]) == []
