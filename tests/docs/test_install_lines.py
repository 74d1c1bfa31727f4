"""The install lines of the README and the tutorial; `.ci/run` runs them in an empty environment."""

from tools.first_install import install_lines


def test_pages_install_from_the_clone_and_from_no_index() -> None:
    assert install_lines() == ["pip install '.[serve]' ./models/turnloom-mini"]
