package io.zrecord.internal.shard;

import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.Section;
import io.zrecord.internal.format.ValidityUnits;

/**
 * The bits of a field that tell which values are present (FORMAT.md section 5). Without bits all
 * values are. Thread-safe.
 */
public final class PresenceBits {
  private final TablesFile file;
  private final Binding binding;
  private final long position;
  private final VerifiedBits verified;

  PresenceBits(TablesFile file, Section section, Binding binding) {
    this.file = file;
    this.binding = binding;
    this.position = section.position();
    this.verified = new VerifiedBits(
        position == 0 ? 0 : ValidityUnits.unitCount(file.json().length()));
  }

  /** Returns the bytes of the file of the tables. */
  public Windows tables() {
    return file.windows();
  }

  /** Returns what binds the checksums of the field. */
  public Binding binding() {
    return binding;
  }

  /** Tells whether there are bits. */
  public boolean isThere() {
    return position != 0;
  }

  /** Returns the bits of the 64 slots among which {@code slot} is. */
  public long word(long slot) {
    return tables().longAt(position + ValidityUnits.wordAt(slot));
  }

  /** Returns the position in the tables of a unit of the bits. */
  public long unitAt(long unit) {
    return position + ValidityUnits.unitAt(unit);
  }

  /** Returns the length of the unit. Its checksum follows. */
  public int unitBytes(long unit) {
    return ValidityUnits.unitBytes(unit, file.json().length());
  }

  public boolean isVerified(long unit) {
    return verified.isSet(unit);
  }

  public void setVerified(long unit) {
    verified.set(unit);
  }
}
