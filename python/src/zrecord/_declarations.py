"""What a table says of itself (FORMAT.md section 7.12)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from uuid import UUID

from zrecord._schema import FieldSpec, UnreadableField
from zrecord._sealed import JsonObject

ENFORCED_CHECKS = "enforced-checks"
IDENTITY = "identity"
_MEMBER = "declarations"
_KINDS = ("check", "primaryKey", "unique", "foreignKey")
_DIRECTIONS = ("ascending", "descending")
_NULLS = ("first", "last")
_MAX_ID = 2**31 - 1
_MAX_COUNT = 1000
_MAX_TEXT = 1 << 16
_MAX_NAME = 1024
_MAX_CONSTRAINT_NAME = 255
_MAX_TABLE_NAME = 4096
_MAX_ALL = 1 << 20
_LONGS = (-(2**63), 2**63 - 1)


@dataclass(frozen=True)
class OrderField:
    """A field by which writers should order records."""

    field: int  #: number of the field
    direction: str  #: ``ascending`` or ``descending``
    nulls: str  #: ``first`` or ``last``: where records without a value come


@dataclass(frozen=True)
class Constraint:
    """What is declared to be true of all records."""

    name: str
    kind: str  #: ``check``, ``primaryKey``, ``unique`` or ``foreignKey``
    fields: tuple[int, ...]  #: numbers of the fields that the constraint names
    sql: str = ""  #: the condition of a check
    references: tuple[str, tuple[str, ...]] | None = None  #: table and columns of a foreign key
    enforced: bool = False  #: whether writers must evaluate the check


@dataclass(frozen=True)
class Identity:
    """A field in which the table gives each record a number of its own."""

    field: int  #: number of the field
    sequence: UUID  #: the series of numbers
    start: int  #: the first number
    step: int  #: what the next number is more than the one before, maybe negative
    next: int  #: the first number that nobody has reserved
    explicit: bool = False  #: whether a record may bring a number of its own


@dataclass(frozen=True)
class Declarations:
    """What a table says of itself, beside its fields."""

    comment: str = ""
    properties: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    write_order: tuple[OrderField, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    identities: tuple[Identity, ...] = ()


NOTHING = Declarations()


def read_declarations(
    manifest: JsonObject, fields: Iterable[FieldSpec] = (), unreadable: Iterable[UnreadableField] = ()
) -> Declarations:
    """Reads what the table of a manifest says of itself. Leaves out what a later release says."""
    if _MEMBER not in manifest.members:
        return NOTHING
    json = manifest.object(_MEMBER)
    comment = _text(json, json.string("comment"), 0, _MAX_TEXT) if "comment" in json.members else ""
    properties = json.strings("properties")
    for key, value in properties.items():
        _text(json, key, 1, _MAX_NAME)
        _text(json, value, 0, _MAX_TEXT)
    order = _objects(json, "writeOrder")
    is_known = all(one.string("direction") in _DIRECTIONS and one.string("nulls") in _NULLS for one in order)
    write_order = tuple(_read_order(one) for one in order) if is_known else ()
    _require_ids(json, [one.field for one in write_order])
    found = [_read_constraint(one) for one in _objects(json, "constraints")]
    constraints = tuple(one for one in found if one is not None)
    if len(properties) > _MAX_COUNT or len(constraints) > _MAX_COUNT:
        raise json.corrupt(f"it has more than {_MAX_COUNT} properties or constraints of the table")
    if len({one.name for one in constraints}) != len(constraints):
        raise json.corrupt("a constraint is there twice")
    texts = [comment, *properties, *properties.values(), *(text for one in constraints for text in _texts(one))]
    if sum(map(_units, texts)) > _MAX_ALL:
        raise json.corrupt(f"the texts of its declarations have more than {_MAX_ALL} characters")
    identities = tuple(_read_identity(one) for one in _objects(json, "identities"))
    _require_ids(json, [one.field for one in identities])
    _require_of_manifest(manifest, write_order, constraints)
    _require_identities(manifest, identities, fields, unreadable)
    return Declarations(comment, MappingProxyType(dict(sorted(properties.items()))), write_order, constraints, identities)


def _read_identity(json: JsonObject) -> Identity:
    start, step, following = (json.integer(name, *_LONGS) for name in ("start", "step", "next"))
    if step == 0 or (following - start) % step != 0 or (following - start) // step < 0:
        raise json.corrupt(f"an identity goes on at {following}, which is not {start} and no number of steps of {step} from it")
    explicit = json.members.get("explicit", False)
    if not isinstance(explicit, bool):
        raise json.corrupt("the member 'explicit' of an identity is neither true nor false")
    return Identity(json.integer("field", 1, _MAX_ID), json.uuid("sequence"), start, step, following, explicit)


def _require_identities(
    manifest: JsonObject, identities: tuple[Identity, ...], fields: Iterable[FieldSpec], unreadable: Iterable[UnreadableField]
) -> None:
    if not identities:
        return
    if IDENTITY not in manifest.features("write"):
        raise manifest.corrupt(f"a field has an identity, but its features for writers lack '{IDENTITY}'")
    defaults = [json.integer("id") for json in manifest.objects("fields") if "write" in json.members or "default" in json.members]
    partitions = manifest.integers("partitions", 1, _MAX_ID) if "partitions" in manifest.members else []
    numbered = {field.id for field in fields if field.dtype == "i64" and field.shape == () and not field.nullable}
    unknown = {field.id for field in unreadable}
    allowed = ((numbered - {*defaults}) | unknown) - {*partitions}
    for identity in identities:
        if identity.field not in allowed:
            raise manifest.corrupt(
                f"field {identity.field} cannot have an identity: only a single i64 that is never absent, has no default for"
                " records that say nothing of it, and by which the table is not partitioned can"
            )


def _require_of_manifest(manifest: JsonObject, order: Iterable[OrderField], constraints: Iterable[Constraint]) -> None:
    ids = [one.field for one in order] + [number for one in constraints for number in one.fields]
    if any(number >= manifest.integer("nextFieldId") for number in ids):
        raise manifest.corrupt("its declarations name a field that is not below nextFieldId")
    if any(one.enforced for one in constraints) and ENFORCED_CHECKS not in manifest.features("write"):
        raise manifest.corrupt(f"a constraint is enforced, but its features for writers lack '{ENFORCED_CHECKS}'")


def _read_order(json: JsonObject) -> OrderField:
    return OrderField(json.integer("field", 1, _MAX_ID), json.string("direction"), json.string("nulls"))


def _read_constraint(json: JsonObject) -> Constraint | None:
    """Reads a constraint, if its kind is known."""
    kind, name = json.string("kind"), json.string("name")
    if kind not in _KINDS:
        return None
    _text(json, name, 1, _MAX_CONSTRAINT_NAME)
    is_check = kind == "check"
    if ("sql" in json.members) != is_check:
        raise json.corrupt(f"constraint '{name}' of kind {kind} must have a text if it is a check, and not otherwise")
    sql = _text(json, json.string("sql"), 1, _MAX_TEXT) if is_check else ""
    fields = json.integers("fields", 1, _MAX_ID)
    _require_ids(json, fields)
    enforced = json.members.get("enforced", False)
    if not isinstance(enforced, bool):
        raise json.corrupt("the member 'enforced' of a constraint is neither true nor false")
    references = None
    if "references" in json.members:
        other = json.object("references")
        table = _text(json, other.string("table"), 1, _MAX_TABLE_NAME)
        references = (table, tuple(_text(json, column, 1, _MAX_NAME) for column in other.texts("columns")))
    if not is_check and (enforced or not fields):
        raise json.corrupt(f"constraint '{name}' of kind {kind} is enforced, or has no fields")
    if (references is not None) != (kind == "foreignKey"):
        raise json.corrupt(f"constraint '{name}' of kind {kind} must refer to a table if it is a foreign key, and not otherwise")
    return Constraint(name, kind, tuple(fields), sql, references, enforced)


def _texts(constraint: Constraint) -> list[str]:
    table, columns = constraint.references or ("", ())
    return [constraint.name, constraint.sql, table, *columns]


def _require_ids(json: JsonObject, ids: list[int]) -> None:
    if len(ids) > _MAX_COUNT or len(set(ids)) != len(ids):
        raise json.corrupt(f"its declarations name {len(ids)} fields in one place, maybe one of them twice")


def _text(json: JsonObject, text: str, least: int, most: int) -> str:
    is_valid = "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text)
    if not is_valid or not least <= _units(text) <= most:
        raise json.corrupt(f"{text[:40]!r} is not allowed in its declarations: {least} to {most} characters of valid Unicode are")
    return text


def _units(text: str) -> int:
    """Returns the number of UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _objects(json: JsonObject, member: str) -> list[JsonObject]:
    return json.objects(member) if member in json.members else []
