"""A reader: lines such as ``anna > hello``, a blank line between dialogues."""

from collections.abc import Iterator

from turnloom.corpus import Dialogue, Turn
from turnloom.corpus.readers import ByteStream, Head, Parsed, ReadOptions, Rejection, read_lines


class ArrowReader:
    name, title = "arrows", "lines with an arrow (speaker > text)"

    def recognise(self, head: Head) -> str | None:
        lines = [line for line in head.lines()[:-1] if line.strip()]
        return "each of its lines has ' > '" if lines and all(" > " in line for line in lines) else None

    def check(self, head: Head, options: ReadOptions) -> None:
        """There is nothing to say about such a file."""

    def read(self, stream: ByteStream, path: str, options: ReadOptions) -> Iterator[Parsed | Rejection]:
        turns: list[Turn] = []
        first = 0
        for line in read_lines(stream):
            if isinstance(line, Rejection):
                yield line
                continue
            speaker, _, text = line.content.decode("utf-8", "replace").partition(" > ")
            if text.strip():
                first = first if turns else line.number
                turns.append(Turn(speaker.strip(), text.strip()))
            elif line.content.strip():
                yield Rejection(line.number, "nothing is said after ' > '")
            elif turns:
                yield Parsed(Dialogue(f"{options.stem}-{first}", options.source, turns))
                turns = []
        if turns:
            yield Parsed(Dialogue(f"{options.stem}-{first}", options.source, turns))


READER = ArrowReader()
