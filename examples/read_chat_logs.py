"""From a CSV export to a dialogue table, and a look at what is in it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from turnloom.corpus import convert, find_logs, read_table
from turnloom.corpus.inspect import measure, warnings_of

CHATS = """\
conv,who,sent,body
c1,customer,2024-05-01T10:00:00,"Hi, my parcel never arrived"
c2,customer,2024-05-01T10:00:05,How do I change my address?
c1,agent,2024-05-01T10:00:20,I am sorry! Could you give me the order number?
c2,agent,2024-05-01T10:00:31,"Under Account, then Addresses."
c1,customer,2024-05-01T10:01:02,It is 4471
c2,customer,2024-05-01T10:01:05,"never closed
c2,customer,2024-05-01T10:01:09,thanks
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "chats.csv"
        log.write_text(CHATS)
        # "conv", "who" and "body" are recognised; "sent" is not.
        conversion = convert(find_logs([str(log)], mapping={"time": "sent"}), Path(folder) / "corpus")
        print(f"{conversion.manifest.dialogues} dialogues, {conversion.manifest.counts['rejected']} row rejected:")
        assert conversion.rejected_path is not None
        print(conversion.rejected_path.read_text())
        table = read_table(Path(folder) / "corpus")
        for dialogue in table.sort("dialogue_id").to_pylist():
            print(dialogue["dialogue_id"], [f"{turn['speaker']}: {turn['text']}" for turn in dialogue["turns"]])
        for warning in warnings_of(measure(table)):
            print("!", warning)


if __name__ == "__main__":
    main()
