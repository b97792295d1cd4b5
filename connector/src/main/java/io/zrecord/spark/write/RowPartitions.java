package io.zrecord.spark.write;

import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.jspecify.annotations.Nullable;

/** Finds the partition of each row. Belongs to one thread. */
public final class RowPartitions {
  private static final int MOST_KNOWN = 10_000;

  private final PartitionField[] fields;
  private final Map<List<@Nullable Object>, List<@Nullable String>> known = new HashMap<>();

  private @Nullable Object[] last;
  private @Nullable List<@Nullable String> lastPartition;

  RowPartitions(PartitionField[] fields) {
    this.fields = fields;
    this.last = new Object[fields.length];
  }

  /**
   * Returns the values of the partition fields as the texts that a shard has of them. Rows of one
   * partition that follow each other get the same list.
   *
   * @throws IllegalArgumentException if there can be no partition of a value
   */
  public List<@Nullable String> of(InternalRow row) {
    @Nullable Object[] values = new Object[fields.length];
    for (int i = 0; i < fields.length; i++) {
      values[i] = fields[i].value(row);
    }
    List<@Nullable String> partition = lastPartition;
    if (partition == null || !Arrays.equals(values, last)) {
      for (int i = 0; i < fields.length; i++) {
        values[i] = PartitionField.kept(values[i]);
      }
      if (known.size() == MOST_KNOWN) {
        known.clear();
      }
      partition = known.computeIfAbsent(Arrays.asList(values), key -> texts(values));
      last = values;
      lastPartition = partition;
    }
    return partition;
  }

  private List<@Nullable String> texts(@Nullable Object[] values) {
    @Nullable String[] texts = new String[fields.length];
    for (int i = 0; i < fields.length; i++) {
      texts[i] = fields[i].text(values[i]);
    }
    return Collections.unmodifiableList(Arrays.asList(texts));
  }
}
