package io.zrecord.internal.shard.layout;

import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.ValidityUnits;
import io.zrecord.internal.shard.fetch.Windows;
import io.zrecord.internal.shard.file.TablesFile;

/**
 * The bits that tell which values of a field with runs are present (FORMAT.md section 5).
 * Thread-safe.
 */
public final class PresenceBits {
  private final Windows tables;
  private final Binding binding;
  private final long position;
  private final long length;
  private final VerifiedBits verified;

  PresenceBits(TablesFile file, FieldTables field, Binding binding) {
    this.tables = file.windows();
    this.binding = binding;
    this.position = field.validity().position();
    this.length = file.json().length();
    this.verified = new VerifiedBits(position == 0 ? 0 : ValidityUnits.unitCount(length));
  }

  /** Tells whether there are such bits. All values are present otherwise. */
  public boolean exist() {
    return position != 0;
  }

  /** Returns the bits of the 64 slots among which {@code slot} is. */
  public long of(long slot) {
    return tables.longAt(position + ValidityUnits.wordAt(slot));
  }

  /** Tells whether the value of a slot is present. The bits must exist. */
  public boolean isPresent(long slot) {
    return (of(slot) >>> slot & 1) != 0;
  }

  /** Returns the bytes of the file of the tables. */
  public Windows tables() {
    return tables;
  }

  /** Returns what binds the checksums of the units. */
  public Binding binding() {
    return binding;
  }

  /** Returns the position in the tables of a unit. */
  public long unitAt(long unit) {
    return position + ValidityUnits.unitAt(unit);
  }

  /** Returns the length of the unit. Its checksum follows. */
  public int unitBytes(long unit) {
    return ValidityUnits.unitBytes(unit, length);
  }

  public boolean isVerified(long unit) {
    return verified.isSet(unit);
  }

  public void setVerified(long unit) {
    verified.set(unit);
  }
}
