package io.zrecord;

import io.zrecord.internal.values.ValueBytes;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.table.write.ShardWriter;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Appends records, one after the other: set the fields, end the record. A field that was not set
 * has its {@code write} default, and is absent if the field has no such default. A field must be
 * set if its default is an expression. A field that was set to null is absent. A field with an
 * identity gets a number if it was not set. An appender belongs to one thread. The
 * {@link RecordDatasetWriter} that made the appender finishes and closes it.
 */
public final class RecordAppender {
  private final ShardWriter shard;
  private final RecordSchema schema;
  private final Map<String, Integer> ordinals = new HashMap<>();
  private final int[] withDefault;
  private final byte[][] defaults;
  private final int[] withExpression;
  private final List<IdentityValues> identities;
  private final boolean[] isSet;
  private @Nullable ShardSummary finished;

  RecordAppender(ShardWriter shard, RecordSchema schema) {
    this(shard, schema, List.of());
  }

  RecordAppender(ShardWriter shard, RecordSchema schema, List<IdentityValues> identities) {
    this.shard = shard;
    this.schema = schema;
    this.identities = identities;
    for (int i = 0; i < schema.fields().size(); i++) {
      ordinals.put(schema.fields().get(i).name(), i);
    }
    this.withDefault = IntStream.range(0, schema.fields().size())
        .filter(i -> schema.fields().get(i).rules().writeHex() != null)
        .toArray();
    this.defaults = IntStream.of(withDefault)
        .mapToObj(i -> schema.fields().get(i).rules().write().orElseThrow())
        .toArray(byte[][]::new);
    this.withExpression = IntStream.range(0, schema.fields().size())
        .filter(i -> schema.fields().get(i).rules().hasDefaultExpression())
        .toArray();
    this.isSet = new boolean[schema.fields().size()];
  }

  /**
   * Sets a field from a Java value:
   *
   * <ul>
   *   <li>a single boolean or number from {@link Boolean} or {@link Number}, which must be exactly
   *       representable in an integer type
   *   <li>{@code utf8} from {@link String}
   *   <li>any field from {@code byte[]}, the little-endian bytes of the value
   *   <li>a tensor from {@code short[]}, {@code int[]}, {@code long[]}, {@code float[]} or
   *       {@code double[]} whose elements are as wide as those of the field
   *   <li>a nested value from an {@link Iterable} for a list, a {@link Map} or an Iterable of its
   *       entries for a map, and a Map by name for a struct; null is absent
   *   <li>an absent value of any field from null, also if the field has a {@code write} default
   * </ul>
   *
   * @throws IllegalArgumentException if there is no such field, the value does not fit it, or the
   *     value is null and the field is never absent, or always generated
   * @throws IllegalStateException if the field was set already in this record
   */
  public RecordAppender set(String field, @Nullable Object value) {
    Integer ordinal = ordinals.get(field);
    if (ordinal == null) {
      throw new IllegalArgumentException("There is no field '" + field + "'; the fields are "
          + String.join(", ", schema.fields().stream().map(FieldSpec::name).toList()));
    }
    if (isSet[ordinal]) {
      throw new IllegalStateException(
          "Field '" + field + "' was set twice in one record; call endRecord() after each record");
    }
    FieldSpec spec = schema.fields().get(ordinal);
    for (IdentityValues identity : identities) {
      identity.requireGiven(ordinal);
    }
    if (value != null) {
      byte[] bytes = ValueBytes.of(spec, value);
      shard.put(ordinal, bytes, 0, bytes.length);
    } else if (!spec.rules().isNullable()) {
      throw new IllegalArgumentException(
          "Field '" + field + "' is never absent; give record " + shard.recordCount() + " a value");
    }
    isSet[ordinal] = true;
    return this;
  }

  /**
   * Ends the record. A field that was not set gets its {@code write} default, if it has one. A
   * field that was set to null stays absent. A field with an identity that was not set gets the
   * next number, which may take a commit that reserves more.
   *
   * @throws IllegalArgumentException if a field was not set whose default is an expression
   * @throws io.zrecord.errors.CommitConflictException if the table does not have the identity any
   *     more
   * @throws io.zrecord.errors.ValueTooLargeException if the identity has no number left
   * @throws io.zrecord.errors.StorageException if numbers cannot be reserved; the record was not
   *     ended
   */
  public void endRecord() {
    for (int i : withExpression) {
      if (!isSet[i]) {
        FieldSpec field = schema.fields().get(i);
        throw new IllegalArgumentException("Field '" + field.name() + "' of record "
            + shard.recordCount() + " has no value, and its default is the expression "
            + field.rules().defaultSql() + ", which this writer cannot evaluate; set the field of"
            + " each record, to null if its value is absent");
      }
    }
    putIdentities();
    for (int i = 0; i < withDefault.length; i++) {
      if (!isSet[withDefault[i]]) {
        shard.put(withDefault[i], defaults[i], 0, defaults[i].length);
      }
    }
    Arrays.fill(isSet, false);
    shard.endRecord();
  }

  /** Takes all numbers first, so that a failure leaves the record as it was. */
  private void putIdentities() {
    long[] numbers = new long[identities.size()];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = isSet[identities.get(i).ordinal()] ? 0 : identities.get(i).next();
    }
    for (int i = 0; i < numbers.length; i++) {
      int ordinal = identities.get(i).ordinal();
      if (!isSet[ordinal]) {
        shard.putLong(ordinal, numbers[i]);
      }
    }
  }

  /** Returns the number of records ended so far. */
  public long recordCount() {
    return shard.recordCount();
  }

  /**
   * Returns the writer that this appender fills, for inner loops: by ordinals and without boxing.
   * The {@link RecordDatasetWriter} finishes the writer.
   *
   * @throws IllegalStateException if a field has an identity, because only this appender numbers
   *     records, or a default that is an expression, because only this appender sees that a record
   *     leaves the field out
   */
  public ShardWriter shard() {
    if (!identities.isEmpty()) {
      throw new IllegalStateException("Field '"
          + schema.fields().get(identities.get(0).ordinal()).name()
          + "' has an identity; set the other fields and call endRecord(), which gives it a number,"
          + " or reserve a range and commit shards of your own with TableChange");
    }
    if (withExpression.length > 0) {
      FieldSpec field = schema.fields().get(withExpression[0]);
      throw new IllegalStateException("Field '" + field.name() + "' has the default expression "
          + field.rules().defaultSql()
          + "; set the fields and call endRecord(), which requires a value of each record");
    }
    return shard;
  }

  Optional<ShardSummary> finish() {
    Optional<ShardSummary> summary = shard.finish();
    finished = summary.orElse(null);
    return summary;
  }

  /** Returns the shard; empty before {@link #finish}, or if the shard has no record. */
  Optional<ShardSummary> finished() {
    return Optional.ofNullable(finished);
  }

  void close() {
    shard.close();
  }
}
