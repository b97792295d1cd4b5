package io.zrecord.feed;

/** A value that does not fit how its field is collated. */
final class UnfitValueException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  private final int ordinal;
  private final String field;

  UnfitValueException(int ordinal, String field, String reason) {
    super("Cannot collate a value of field '" + field + "': " + reason);
    this.field = field;
    this.ordinal = ordinal;
  }

  /** Place of the record in its batch. */
  int ordinal() {
    return ordinal;
  }

  String field() {
    return field;
  }
}
