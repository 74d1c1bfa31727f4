"""The error that users see keeps its parts on the way from another process."""

import pickle

from turnloom.corpus.convert import NothingReadError, Reason
from turnloom.errors import TurnloomError


def test_an_error_from_another_process_is_the_same() -> None:
    error = pickle.loads(pickle.dumps(TurnloomError("chats.csv is empty", "leave it out")))
    assert (error.problem, error.fix) == ("chats.csv is empty", "leave it out")
    assert str(error) == "chats.csv is empty: leave it out"
    reasons = [Reason(3, "no text", "chats.csv:2", "")]
    again = pickle.loads(pickle.dumps(NothingReadError("chats.csv: nothing", "export it again", reasons)))
    assert (again.fix, again.reasons) == ("export it again", reasons)
