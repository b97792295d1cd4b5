package io.zrecord.spark.byindex;

import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange.Replacement;
import io.zrecord.table.write.ShardFields;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** The shards to which a task has added fields. Belongs to one thread. */
final class WrittenFields implements Serializable {
  private static final long serialVersionUID = 1L;

  private final ArrayList<ShardSummary> before = new ArrayList<>();
  private final ArrayList<ShardSummary> after = new ArrayList<>();

  void add(ShardSummary shard, ShardSummary withFields) {
    before.add(shard);
    after.add(withFields);
  }

  /** Returns each shard alone, with what takes its place. */
  List<Replacement> replacements() {
    return IntStream.range(0, before.size())
        .mapToObj(i -> new Replacement(List.of(before.get(i)), List.of(after.get(i))))
        .toList();
  }

  /** Deletes what was written, as far as possible. */
  void discard(Storage storage) {
    RecordTable table = RecordTable.at(storage);
    for (int i = 0; i < before.size(); i++) {
      table.discardFiles(ShardFields.filesOf(after.get(i), before.get(i)));
    }
  }
}
