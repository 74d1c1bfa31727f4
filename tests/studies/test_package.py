"""The package turnloom-mini: making it again keeps what people wrote on its card."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from studies.flagship.package import NOTICE, PROJECT, main

MODEL = Path(__file__).parents[2] / "models" / "turnloom-mini"
RUN_CARD = """---
license: apache-2.0
---

# final-seed0

A dialogue encoder: Turnloom, recipe `turnloom`.

## Training

| source | pairs | licence |
|---|---|---|
| sgd | 12 | CC BY-SA 4.0 |

## Recipe

```yaml
steps: 900
```

## Papers

```bibtex
@misc{new}
```
"""
WRITTEN_CARD = """# turnloom-mini

A model for conversations.

## Limits

- English only.

## Recipe

```yaml
steps: 800
## a comment, not a heading
```

## Papers

```bibtex
@misc{old}
```

## Thanks

To all.
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "final-seed0"
    (folder / "training").mkdir(parents=True)
    (folder / "README.md").write_text(RUN_CARD)
    save_file({"weight": torch.ones(2)}, folder / "model.safetensors")
    return folder


def test_a_new_run_keeps_the_written_card_and_renews_its_recipe(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "turnloom-mini"
    out.mkdir()
    (out / "README.md").write_text(WRITTEN_CARD)
    main(str(run), str(out))
    before, after = WRITTEN_CARD.partition("## Recipe")[0], "\n## Thanks\n\nTo all.\n"
    assert (out / "README.md").read_text() == before + RUN_CARD[RUN_CARD.index("## Recipe") :] + after
    assert (out / "NOTICE").read_text() == NOTICE + "- sgd: CC BY-SA 4.0\n"
    assert load_file(out / "model.safetensors")["weight"].dtype == torch.float16
    assert not (out / "training").exists()


def test_the_first_card_is_that_of_the_run(run: Path, tmp_path: Path) -> None:
    main(str(run), str(tmp_path / "turnloom-mini"))
    assert (tmp_path / "turnloom-mini" / "README.md").read_text() == RUN_CARD.replace("final-seed0", "turnloom-mini")


def test_a_missing_run_leaves_the_package_alone(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(WRITTEN_CARD)
    with pytest.raises(FileNotFoundError):
        main(str(tmp_path / "no-run"), str(tmp_path))
    assert (tmp_path / "README.md").read_text() == WRITTEN_CARD


def test_the_packaged_files_are_those_that_the_study_writes() -> None:
    assert (MODEL / "pyproject.toml").read_text() == PROJECT
    assert (MODEL / "NOTICE").read_text().startswith(NOTICE)
