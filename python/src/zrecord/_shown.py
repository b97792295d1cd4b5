"""Shows a dataset as text, and in notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from zrecord._schema import FieldSpec

_MAX_FIELDS = 200
_HEADINGS = ("field", "type", "shape", "absent", "bytes", "comment")


def as_text(title: str, fields: Mapping[str, FieldSpec], unreadable: Mapping[str, str]) -> str:
    """Returns a title and a line for each field."""
    rows = _rows(fields, unreadable)
    cells = [(line(name), line(dtype + shape), absent) for name, dtype, shape, absent, _, _ in rows]
    first, second = (max((len(cell[at]) for cell in cells), default=0) for at in (0, 1))
    lines = [f"  {name:<{first}}  {kind:<{second}}  {absent}".rstrip() for name, kind, absent in cells]
    return "\n".join([title, *lines, *_rest(fields, unreadable)])


def as_html(title: str, length: int, fields: Mapping[str, FieldSpec], unreadable: Mapping[str, str]) -> str:
    """Returns a table with a row for each field. What the dataset says is escaped."""
    head = "".join(f"<th>{heading}</th>" for heading in _HEADINGS)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in _rows(fields, unreadable))
    widths = [spec.width for spec in fields.values()]
    known = sum(width for width in widths if width is not None) * length
    size = f"{known:,} bytes{' and values of different lengths' if None in widths else ''}"
    rest = "".join(f"<p>{escape(line.strip())}</p>" for line in _rest(fields, unreadable))
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div><p><b>{escape(title)}</b><br>{size}</p>{table}{rest}</div>"


def _rows(fields: Mapping[str, FieldSpec], unreadable: Mapping[str, str]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        (
            name,
            str(spec.nested) if spec.nested is not None else spec.dtype,
            str(list(spec.shape)) if spec.shape else "",
            "may be absent" if spec.nullable else "",
            "" if spec.width is None else f"{spec.width:,}",
            spec.comment,
        )
        for name, spec in fields.items()
    ]
    rows += [(name, "cannot be read", "", "", "", f"needs the feature {feature}") for name, feature in unreadable.items()]
    return rows[:_MAX_FIELDS]


def _rest(fields: Mapping[str, FieldSpec], unreadable: Mapping[str, str]) -> list[str]:
    more = len(fields) + len(unreadable) - _MAX_FIELDS
    return [f"  … and {more} fields more"] if more > 0 else []


def line(text: str) -> str:
    """Returns a text without what would begin another line or move a terminal's cursor."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
