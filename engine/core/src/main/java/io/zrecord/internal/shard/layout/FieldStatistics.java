package io.zrecord.internal.shard.layout;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.StatisticsRecord;
import io.zrecord.internal.shard.file.TablesFile;
import java.util.ArrayList;
import java.util.List;

/** Reads the statistics of a field in a shard (FORMAT.md section 5). Stateless. */
public final class FieldStatistics {
  /** Records of 10¹² slots. */
  private static final long MOST_BYTES = 1L << 30;

  private FieldStatistics() {}

  /**
   * Reads the records of all blocks.
   *
   * @return no record if the field has no statistics
   * @throws CorruptDataException if they are damaged
   */
  public static List<StatisticsRecord> read(TablesFile file, FieldTables field) {
    if (!field.statistics().isPresent()) {
      return List.of();
    }
    if (field.statistics().bytes() > MOST_BYTES) {
      throw corrupt(file, field, "they have " + field.statistics().bytes() + " bytes");
    }
    byte[] section = new byte[(int) field.statistics().bytes()];
    file.windows().copy(field.statistics().position(), section, 0, section.length);
    Binding binding = new Binding(file.json().shardId(), field.id());
    List<StatisticsRecord> records = new ArrayList<>();
    long slots = file.json().length();
    try {
      for (int i = 0; i < StatisticsRecord.count(slots); i++) {
        long left = slots - (long) i * StatisticsRecord.SLOTS;
        int count = (int) Math.min(StatisticsRecord.SLOTS, left);
        records.add(StatisticsRecord.decode(section, i, count, binding));
      }
    } catch (IllegalArgumentException e) {
      throw corrupt(file, field, String.valueOf(e.getMessage()));
    }
    return records;
  }

  private static CorruptDataException corrupt(TablesFile file, FieldTables field, String reason) {
    return new CorruptDataException(
        file.path(),
        "Cannot read the statistics of field " + field.id() + " in " + file.path() + ": " + reason
            + ". Restore it from a copy, or read without a range of values");
  }
}
