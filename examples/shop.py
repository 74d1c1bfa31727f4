"""Write the chats of a made-up tea shop as CSV. The same seed gives the same file.

Usage: python examples/shop.py FILE [CONVERSATIONS [SEED]]
"""

from __future__ import annotations

import csv
import random
import sys
from datetime import datetime, timedelta
from pathlib import Path

ITEMS = [
    "teapot",
    "glass kettle",
    "green tea",
    "oolong sampler",
    "bamboo tray",
    "tea strainer",
    "matcha whisk",
    "cast iron pot",
]
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
FLAWS = ["a crack in the lid", "a broken handle", "a dent in the side", "a torn packet", "the wrong colour"]
NAMES = ["Ada", "Bruno", "Clara", "Dimitri", "Elif", "Farah", "Goran", "Hana", "Ivo", "Jonas"]
# A topic: how it opens, and then what is said in turns, agent first; each turn has several wordings.
TOPICS: list[tuple[list[str], list[list[str]]]] = [
    (
        [
            "my {item} has not arrived yet",
            "where is the parcel with my {item}",
            "i still wait for the {item} i ordered",
        ],
        [
            [
                "I am sorry to hear that. Could you give me the order number?",
                "Let me look. What is the number of your order?",
            ],
            ["it is {order}", "the number is {order}, ordered last week", "{order}, and my mail is {mail}"],
            [
                "It left our warehouse on {day} and should reach you soon.",
                "The carrier has it and will deliver on {day}.",
            ],
        ],
    ),
    (
        [
            "the {item} came with {flaw}",
            "i opened the box and found {flaw} on the {item}",
            "my new {item} is damaged, {flaw}",
        ],
        [
            ["That should not happen. Could you send us a photo of it?", "Oh no! A photo of the damage would help us."],
            ["i have just sent a photo to your address", "yes, you have it now, sent from {mail}"],
            [
                "Thank you. A new {item} goes out to you on {day}.",
                "We replace it at our cost, you may keep the old one.",
            ],
        ],
    ),
    (
        [
            "i want to send the {item} back",
            "can i return a {item} that i have not used",
            "how do returns work for the {item}",
        ],
        [
            [
                "You can return it within thirty days. Is it still in its box?",
                "Of course. Was the {item} used already?",
            ],
            ["it is unused and still in the box", "i used it once, is that a problem"],
            [
                "I have sent you a label, please drop it at any post office by {day}.",
                "No problem, the label is in your mailbox.",
            ],
        ],
    ),
    (
        [
            "when do i get my money back for the {item}",
            "my refund for order {order} is missing",
            "i was promised a refund last week",
        ],
        [
            [
                "Refunds take five working days. Which card did you pay with?",
                "Let me check. Did you pay by card or by transfer?",
            ],
            ["i paid by credit card", "by bank transfer, from the account of {name}"],
            ["I see it: the refund was sent on {day}.", "It was stuck; I have started it again, it arrives by {day}."],
        ],
    ),
    (
        [
            "i moved and need to change my address",
            "please send order {order} to another address",
            "how do i change where you deliver",
        ],
        [
            ["Sure. What is the new address?", "You find it under Account, then Addresses. Shall I do it for you?"],
            ["please change it to {number} Mill Lane", "yes please, it is {number} Harbour Street now"],
            ["Done, your next parcel goes to the new address.", "I have changed it, also for the order of {day}."],
        ],
    ),
    (
        [
            "which {item} is best for a beginner",
            "is the {item} safe for the dishwasher",
            "how hot should the water be for the {item}",
        ],
        [
            [
                "Good question! Do you drink more green or more black tea?",
                "That depends. Is it for one person or for several?",
            ],
            ["mostly green, in the morning", "for two of us, and sometimes guests"],
            [
                "Then I would take the small {item}, and water at eighty degrees.",
                "I recommend the {other} in that case.",
            ],
        ],
    ),
    (
        [
            "i want to cancel order {order}",
            "please stop my order of the {item}",
            "can i still cancel what i bought on {day}",
        ],
        [
            [
                "It has not been packed yet. May I ask why you want to cancel?",
                "I can do that. Shall I cancel all of it or the {item} only?",
            ],
            ["i found it in a shop nearby", "all of it please", "just the {item}, keep the rest"],
            [
                "It is cancelled, and you will not be charged.",
                "Cancelled. You get a note at your mail address by {day}.",
            ],
        ],
    ),
]
THANKS = ["thanks a lot", "great, thank you", "perfect, thanks for the quick help", "ok"]
CLOSING = [
    "You are welcome!",
    "Happy to help. Have a good cup!",
    "You are welcome, bye {name}!",
    "Anything else, just write.",
]


def conversation(rng: random.Random) -> list[str]:
    """The turns of one chat, the customer's first."""
    name = rng.choice(NAMES)
    values = {
        "item": rng.choice(ITEMS),
        "other": rng.choice(ITEMS),
        "day": rng.choice(DAYS),
        "flaw": rng.choice(FLAWS),
        "name": name,
        "order": str(rng.randrange(1_000, 9_999)),
        "number": str(rng.randrange(1, 99)),
        "mail": f"{name.lower()}{rng.randrange(100)}@example.org",
    }
    opening, rest = rng.choice(TOPICS)
    turns = [rng.choice(["hi, ", "hello, ", "", "good morning, "]) + rng.choice(opening)]
    turns += [rng.choice(wordings) for wordings in rest]
    if rng.random() < 0.8:
        turns += [rng.choice(THANKS), rng.choice(CLOSING)]
    return [turn.format(**values) for turn in turns]


def write_chats(path: Path, count: int = 900, seed: int = 0) -> None:
    """One row a turn, in the order in which they were said, as a shop's chat tool exports them."""
    rng = random.Random(seed)
    rows: list[tuple[str, str, str, str]] = []
    start = datetime(2024, 5, 1, 8)
    for number in range(count):
        time = start + timedelta(minutes=7 * number)
        for place, text in enumerate(conversation(rng)):
            time += timedelta(seconds=rng.randrange(5, 90))
            rows.append((f"{seed}-{number}", ("customer", "agent")[place % 2], time.isoformat(), text))
    rows.sort(key=lambda row: row[2])
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["conversation_id", "role", "timestamp", "message"])
        writer.writerows(rows)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        write_chats(Path(sys.argv[1]), *map(int, sys.argv[2:]))
    else:
        print(__doc__)
