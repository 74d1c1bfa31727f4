"""Replies from past conversations: build an index, ask it, add to it, take something out of it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from turnloom.benchmarks.baselines import TfIdf
from turnloom.corpus import convert, find_logs
from turnloom.replies import ReplyIndex, ReplyOptions
from turnloom.runtime import load_encoder

PAST = [
    ["my parcel never arrived", "I am sorry! Could you give me the order number?", "it is 4471", "It will come today."],
    ["the parcel has not come", "I am sorry! Could you give me the order number?", "5120", "It was sent yesterday."],
    ["how do I change my address?", "Under Account, then Addresses.", "thanks", "You are welcome!"],
    ["can I pay by card?", "Yes, by any card.", "great, thanks", "You are welcome!"],
    ["I forgot my password", "There is a link below the password field.", "found it, thanks", "you are welcome!"],
]
LATER = [["do you ship to Norway?", "Yes, it takes five days.", "thanks", "You are welcome!"]]


def write_table(folder: Path, conversations: list[list[str]], first: int = 0) -> Path:
    """Chat logs, converted into a dialogue table; `turnloom convert` does the same."""
    log = folder.with_suffix(".jsonl")
    with log.open("w", encoding="utf-8") as file:
        for number, texts in enumerate(conversations, first):
            turns = [{"speaker": ("customer", "agent")[place % 2], "text": text} for place, text in enumerate(texts)]
            file.write(json.dumps({"id": f"c{number}", "turns": turns}) + "\n")
    convert(find_logs([str(log)]), folder)
    return folder


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        # Any encoder will do; load_encoder("my-model") is the one to use on real conversations.
        encoder = load_encoder(TfIdf([text for texts in [*PAST, *LATER] for text in texts]))
        options = ReplyOptions(contexts=True)
        index = ReplyIndex.build(write_table(place / "past", PAST), place / "index", encoder, options)
        print(f"{len(index)} replies")

        for message in ("my parcel is not here", "where can I change the address?"):
            print(f"\n> {message}")
            # A plain encoder knows what means the same, not what comes next: look for similar contexts.
            for reply in index.suggest([message], k=2, mode="contexts"):
                where = ", ".join(conversation.dialogue_id for conversation in reply.conversations)
                print(f"  {reply.score:.4f}  {reply.text}  (given {reply.count} times: {where})")

        index.add(write_table(place / "later", LATER, first=len(PAST)))
        best = index.suggest(["is Norway possible?"], k=1, mode="contexts")[0]
        print(f"\nAfter adding a conversation: {best.text}")

        index.delete(conversations=["c0"])
        index.prune()  # Older versions would still hold it.
        counts = {reply.text: reply.count for reply in index.suggest(["the order number"], k=20, mode="all")}
        print(f"After deleting one: given {counts['I am sorry! Could you give me the order number?']} times")
        assert "It will come today." not in counts


if __name__ == "__main__":
    main()
