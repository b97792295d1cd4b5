package io.zrecord.internal.shard.layout;

import io.zrecord.internal.format.Binding;
import io.zrecord.schema.Codec;

/** A field whose values have any length, and may be compressed one by one. Thread-safe. */
public sealed interface StoredField extends OpenField permits EntryField, VariableField {
  /** Returns the full path of the file of the tables. */
  String path();

  Codec codec();

  boolean hasChecksums();

  /** Returns what binds the checksums of the field. */
  Binding binding();

  /** Returns the stored checksum of a value that has one of its own. */
  int storedChecksum(long slot);

  /** Notes that the checksum of such a value was right. */
  void setVerified(long slot);

  /** Tells whether every value was verified. */
  boolean isAllVerified();
}
