"""Plots as they stand in a page."""

from __future__ import annotations

import math
import re

import matplotlib as mpl
import numpy as np

from turnloom.pages.plots import Cloud, bars, cloud_map, curve, intervals_plot, labelled_points


def marks(drawn: str) -> list[str]:
    return re.findall(r'<g class="mark"><title>(.*?)</title>', drawn)


def test_drawings_have_a_mark_a_point() -> None:
    points = np.array([[0.0, 0.0], [1.0, 2.0]])
    drawn = cloud_map("a map", [Cloud("x", points, 0), Cloud("y", points, 7), Cloud("z", points, None)])
    shapes = re.findall(r'<use xlink:href="(#\w+)"', drawn)
    assert [shapes.count(shape) for shape in dict.fromkeys(shapes)] == [2, 2, 2]
    assert marks(drawn) == ["x", "y", "z"]
    assert 'aria-label="a map"' in drawn
    assert marks(labelled_points("t", {"one": (1.0, 1.0)}, "x", "y")) == ["one"]


def test_values_are_told_at_each_mark() -> None:
    assert marks(bars("Turns", [3, 1200, 0], "turns", first=1)) == ["1: 3", "2: 1,200", "3 and above: 0"]
    assert marks(curve("Shares", {0.001: 0.25, 1.0: 1.0}, "share")) == ["0.10%: 25.0%", "100.00%: 100.0%"]
    assert curve("Shares", {}, "share") == ""
    ends = {"a": (50.0, 45.0, 55.0), "b": (40.0, math.nan, math.nan)}
    assert marks(intervals_plot("Means", ends)) == ["a", "b"]


def test_a_plot_takes_its_colours_from_the_page_and_nothing_from_elsewhere() -> None:
    drawn = bars("Turns", [3, 1], "turns")
    assert "var(--fill)" in drawn
    assert "#00000" not in drawn
    assert "<style" not in drawn
    assert "http" not in drawn


def test_ids_are_unique_in_a_page_and_the_same_every_time() -> None:
    points = {"a": (0.0, 1.0), "b": (1.0, 0.0)}
    first, second = (labelled_points(title, points, "x", "y") for title in ("first", "second"))
    assert labelled_points("first", points, "x", "y") == first
    ids = [re.findall(r'\bid="([^"]+)"', drawn) for drawn in (first, second)]
    assert all(ids)
    assert not set(ids[0]) & set(ids[1])


def test_names_are_text_whatever_they_are() -> None:
    names = {"$a$ <b>": (0.0, 1.0), "模型": (1.0, 0.0)}
    drawn = labelled_points('a "title" <i>', names, "x", "y")
    assert ">$a$ &lt;b&gt;</text>" in drawn
    assert ">模型</text>" in drawn
    assert 'aria-label="a &quot;title&quot; &lt;i&gt;"' in drawn


def test_settings_of_the_process_stay_as_they_are() -> None:
    with mpl.rc_context({"text.usetex": True, "font.size": 40}):
        drawn = bars("Turns", [3, 1], "turns")
        assert mpl.rcParams["font.size"] == 40
    assert drawn == bars("Turns", [3, 1], "turns")
