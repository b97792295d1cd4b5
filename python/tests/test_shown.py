"""How a dataset shows itself: whatever its names say, a notebook runs none of it, and a terminal gets one line for each."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import zrecord
import zrecord.torch
from tests.conftest import GOLDEN
from tests.tables import edit, manifest_of

EVIL = "<script>alert(1)</script>&\"'\n\x1b[2J"


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert not attrs

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_notebook_shows_fields_types_and_numbers() -> None:
    shown = Tags()
    shown.feed(zrecord.open(GOLDEN / "v2" / "table")._repr_html_())
    assert shown.tags == {"div", "p", "b", "br", "table", "thead", "tr", "th", "tbody", "td"}
    assert f"zrecord.Dataset {GOLDEN}/v2/table version 3: 120 records" in shown.texts
    at = shown.texts.index("image")
    assert shown.texts[at : at + 5] == ["image", "u8", "[3, 5]", "may be absent", "15"]
    assert any("bytes and values of different lengths" in text for text in shown.texts)


def test_what_a_table_says_is_text_to_a_notebook_and_a_terminal(table: Path) -> None:
    def rename(members: dict[str, list[dict[str, str]]]) -> None:
        members["fields"][0].update(name=EVIL, comment=EVIL)
        members["fields"][1].update(dtype="<img src=x>")

    edit(manifest_of(table, 3), rename)
    data = zrecord.open(table)
    html = data._repr_html_()
    shown = Tags()
    shown.feed(html)
    assert "script" not in shown.tags and "img" not in shown.tags and "&lt;script&gt;" in html
    assert EVIL in shown.texts
    text = str(data)
    assert len(text.splitlines()) == 1 + 36 and "\x1b" not in text
    assert "cannot be read" in text
    for each in (data, zrecord.torch.Dataset(data), data[EVIL] == True, data[EVIL].isin([]), data[EVIL].is_absent()):  # noqa: E712
        assert "\x1b" not in repr(each) and "\n" not in repr(each)


def test_text_and_repr_name_the_part_that_is_shown() -> None:
    data = zrecord.open(GOLDEN / "v2" / "table").select(["i64", "points"])
    assert str(data).splitlines() == [
        f"zrecord.Dataset {GOLDEN}/v2/table version 3: 120 of 120 records",
        "  i64     i64         may be absent",
        "  points  f32[-1, 2]  may be absent",
    ]
    assert repr(data.take([1, 2])) == f"<zrecord.Dataset {GOLDEN}/v2/table version 3: 2 of 120 records of i64, points>"
    assert "\n" not in repr(data)


def test_a_table_of_very_many_fields_is_shown_in_part(table: Path) -> None:
    def many(members: dict[str, list[dict[str, object]]]) -> None:
        members["fields"] += [{**members["fields"][0], "id": 1000 + i, "name": f"more {i}"} for i in range(300)]
        members["nextFieldId"] = 2000  # type: ignore[assignment]

    edit(manifest_of(table, 3), many)
    data = zrecord.open(table)
    assert str(data).splitlines()[-1] == "  … and 136 fields more"
    assert data._repr_html_().count("<tr>") == 201 and "… and 136 fields more" in data._repr_html_()
