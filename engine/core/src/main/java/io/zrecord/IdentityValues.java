package io.zrecord;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.ValueTooLargeException;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Identity;
import io.zrecord.schema.Identity.Generation;
import io.zrecord.schema.IdentityRange;
import io.zrecord.schema.RecordSchema;
import org.jspecify.annotations.Nullable;

/**
 * Gives numbers of an identity to the records of one appender. Reserves blocks of them as they are
 * needed, mostly each by a commit: a small append leaves a small gap, and a large one makes few
 * commits. Belongs to one thread.
 */
final class IdentityValues {
  static final long FIRST_BLOCK = 1024;
  static final long LARGEST_BLOCK = 1 << 20;
  private static final int ATTEMPTS = 3;

  private final IdentitySource source;
  private final Identity identity;
  private final int ordinal;
  private final String name;
  private long blockCount = FIRST_BLOCK;
  private @Nullable IdentityRange block;
  private long usedCount;

  IdentityValues(IdentitySource source, RecordSchema schema, Identity identity) {
    FieldSpec field = schema.find(identity.fieldId()).orElseThrow();
    this.source = source;
    this.identity = identity;
    this.ordinal = schema.fields().indexOf(field);
    this.name = field.name();
  }

  /** Returns the ordinal of the field in the schema of the appender. */
  int ordinal() {
    return ordinal;
  }

  /** Requires that a record may bring a value of a field. */
  void requireGiven(int ordinalOfField) {
    if (ordinalOfField == ordinal && identity.generation() == Generation.ALWAYS) {
      throw new IllegalArgumentException("Field '" + name + "' is always generated, and takes no"
          + " value; leave the field out, or declare an identity by default");
    }
  }

  /** Returns a number that no other record has. */
  long next() {
    IdentityRange range = block;
    if (range == null || usedCount == range.count()) {
      range = reserve();
      block = range;
      usedCount = 0;
    }
    return range.valueAt(usedCount++);
  }

  /** Reserves a block, or a smaller one if the numbers come to their end. */
  private IdentityRange reserve() {
    long count = blockCount;
    blockCount = Math.min(2 * blockCount, LARGEST_BLOCK);
    while (true) {
      try {
        return reserve(count);
      } catch (ValueTooLargeException e) {
        if (count == 1) {
          throw e;
        }
        count /= 2;
      }
    }
  }

  /** An unknown outcome is one of the reservation, not of the write: its numbers are a gap. */
  private IdentityRange reserve(long count) {
    for (int attempt = 1; ; attempt++) {
      try {
        return source.reserve(identity, count);
      } catch (CommitOutcomeUnknownException e) {
        if (attempt == ATTEMPTS) {
          throw new StorageException(
              e.resource(),
              "Cannot reserve " + count + " numbers of field '" + name + "' in "
                  + e.resource() + ": the storage does not say whether they are"
                  + " reserved; no record was committed, write again later",
              e);
        }
      }
    }
  }
}
