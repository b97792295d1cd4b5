package io.zrecord.store;

import io.zrecord.RecordAppender;
import io.zrecord.internal.values.ValueBytes;
import io.zrecord.schema.RecordSchema;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Holds the values of one record for a {@link RecordStore}. Set the values that are present, hand
 * the object over, clear it and use it again. The object belongs to one thread.
 */
public final class RecordValues {
  private final RecordSchema schema;
  private final byte[] @Nullable [] bytes;
  private final boolean[] isSet;

  RecordValues(RecordSchema schema) {
    this.schema = schema;
    this.bytes = new byte[schema.fields().size()][];
    this.isSet = new boolean[bytes.length];
  }

  /**
   * Sets a field from a Java value, as {@link RecordAppender#set} does. A {@code byte[]} is taken
   * over, not copied. Null makes the field absent, as {@link #setAbsent} does.
   *
   * @throws IllegalArgumentException if there is no such field, or the value does not fit it
   * @throws io.zrecord.errors.ValueTooLargeException if the value is longer than its field allows
   */
  public RecordValues set(String field, @Nullable Object value) {
    int ordinal = schema.ordinal(field);
    bytes[ordinal] = value == null ? null : ValueBytes.of(schema.fields().get(ordinal), value);
    isSet[ordinal] = true;
    return this;
  }

  /**
   * Makes a field absent. A field that is not set is absent in a new record, and keeps its value in
   * an update.
   */
  public RecordValues setAbsent(String field) {
    int ordinal = schema.ordinal(field);
    bytes[ordinal] = null;
    isSet[ordinal] = true;
    return this;
  }

  /** Forgets all values. */
  public RecordValues clear() {
    Arrays.fill(bytes, null);
    Arrays.fill(isSet, false);
    return this;
  }

  byte[] @Nullable [] bytes() {
    return bytes;
  }

  boolean[] isSet() {
    return isSet;
  }

  RecordSchema schema() {
    return schema;
  }
}
