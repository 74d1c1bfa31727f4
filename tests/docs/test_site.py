"""The built site: links hold, pages fit a phone, nobody is kept out; and what checks it sees what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.site_check import broken_in_repository, broken_in_site, build, served, sideways

from tests.cli.browser import opened, overflow, serious_violations

LOOKED_AT = ("index.html", "tutorial/index.html", "results/index.html", "guides/intents/index.html")


pytestmark = pytest.mark.xdist_group("site")  # One process builds the site, once.


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("built") / "site"
    build(place)
    return place


def test_a_link_to_nothing_is_found(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "index.html").write_text('<h2 id="here">x</h2>')
    links = ["other/", "other/#here", "#top", "https://example.org/gone", "other/#gone", "gone.png", "#gone"]
    (tmp_path / "index.html").write_text('<h1 id="top">x</h1>' + "".join(f'<a href="{link}">x</a>' for link in links))
    assert broken_in_site(tmp_path) == [f"index.html: {link}" for link in links[-3:]]


def test_a_link_in_the_repository_is_checked_with_its_anchor(tmp_path: Path) -> None:
    (tmp_path / "OTHER.md").write_text("# A title: here\n\n```text\n[x](in-code.md)\n```\n")
    (tmp_path / "README.md").write_text(
        '[a](OTHER.md#a-title-here) [b](OTHER.md#gone) [c](gone.md) <img src="gone.svg">'
    )
    assert broken_in_repository(tmp_path) == ["README.md: OTHER.md#gone", "README.md: gone.md", "README.md: gone.svg"]


def test_links_of_the_repository_lead_somewhere() -> None:
    assert broken_in_repository() == []


@pytest.mark.slow
def test_links_of_the_site_lead_somewhere(site: Path) -> None:
    assert broken_in_site(site) == []


@pytest.mark.nightly
@pytest.mark.slow
def test_every_page_fits_a_phone(site: Path) -> None:
    assert sideways(site) == []


@pytest.mark.slow
def test_a_page_that_is_too_wide_is_found(site: Path) -> None:
    with served(site) as address, opened(address, 390) as (page, _):
        assert overflow(page) <= 0
        page.evaluate(
            "document.querySelector('article').append(Object.assign(document.createElement('p'), "
            "{style: 'width: 600px', textContent: 'wide'}))"
        )
        assert overflow(page) > 0


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [pytest.param(1280, "light", marks=pytest.mark.nightly), (390, "dark")])
@pytest.mark.parametrize("name", LOOKED_AT)
def test_nobody_is_kept_out(site: Path, name: str, width: int, scheme: str) -> None:
    with served(site) as address, opened(address + name, width, scheme) as (page, _):  # type: ignore[arg-type]
        page.wait_for_load_state("networkidle")
        assert serious_violations(page) == []
