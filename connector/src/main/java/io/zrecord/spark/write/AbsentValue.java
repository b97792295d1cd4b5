package io.zrecord.spark.write;

import io.zrecord.table.write.ShardWriter;

/** Gives a field its value in a row that has none for the field. */
@FunctionalInterface
interface AbsentValue {
  /** Leaves the field absent. */
  AbsentValue ABSENT = (shard, ordinal) -> {};

  /** Puts the value into the record that is being written, or refuses the row. */
  void put(ShardWriter shard, int ordinal);

  /** Puts the same bytes into each record. */
  static AbsentValue always(byte[] value) {
    return (shard, ordinal) -> shard.put(ordinal, value, 0, value.length);
  }

  /** Refuses each row, because a column must have a value. */
  static AbsentValue refused(String table, String column) {
    return (shard, ordinal) -> {
      throw RequiredValue.missing(table, column);
    };
  }
}
