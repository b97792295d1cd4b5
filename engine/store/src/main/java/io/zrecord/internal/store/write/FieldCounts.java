package io.zrecord.internal.store.write;

import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.io.MapFaults;
import io.zrecord.internal.store.Changes;
import io.zrecord.internal.store.EntryTable;
import java.util.ArrayList;
import java.util.List;

/**
 * Counts the bytes and the absent values of each field, as the meta file states them. The counts
 * follow every group that is published. Guarded by the turn to commit.
 */
final class FieldCounts {
  private final List<FieldMeta> fields;
  private final EntryTable[] tables;
  private final long[] valueBytes;
  private final long[] absentCounts;

  /**
   * Starts from the counts of a meta file.
   *
   * @param tables of the fields, in their order
   */
  FieldCounts(List<FieldMeta> fields, EntryTable[] tables) {
    this.fields = fields;
    this.tables = tables;
    this.valueBytes = fields.stream().mapToLong(FieldMeta::valueBytes).toArray();
    this.absentCounts = fields.stream().mapToLong(FieldMeta::absentCount).toArray();
  }

  /** Adds what a group changes; the tables still hold the entries that the group replaces. */
  void add(Changes group, long publishedLength) {
    for (int field = 0; field < tables.length; field++) {
      EntryTable table = tables[field];
      for (int slot = 0; slot < group.slotCount(); slot++) {
        long index = group.index(slot);
        if (index < group.length()) {
          add(field, group.word0(slot, field), group.word1(slot, field), 1);
          if (index < publishedLength) {
            add(field, table.word0(index), table.word1(index), -1);
          }
        }
      }
      for (long index = group.length(); index < publishedLength; index++) {
        add(field, table.word0(index), table.word1(index), -1);
      }
    }
  }

  private void add(int field, long word0, long word1, int sign) {
    valueBytes[field] += sign * (Entry.physicalLength(word1) & 0xffff_ffffL);
    absentCounts[field] += Entry.isAbsent(word0, word1) ? sign : 0;
  }

  /** Counts all entries again, because the tables may have been changed in part. */
  void recount(long length) {
    for (int i = 0; i < tables.length; i++) {
      int field = i;
      MapFaults.guard(tables[field].path(), () -> {
        valueBytes[field] = tables[field].valueBytes(length);
        absentCounts[field] = tables[field].absentCount(length);
      });
    }
  }

  /**
   * Counts all entries again if a count is impossible. A damaged entry is subtracted as it is now,
   * not as it was when it was added.
   */
  void requirePossible(long length) {
    for (int field = 0; field < tables.length; field++) {
      if (valueBytes[field] < 0 || absentCounts[field] < 0 || absentCounts[field] > length) {
        recount(length);
        return;
      }
    }
  }

  /** Returns the fields with the counts of this moment. */
  List<FieldMeta> metas() {
    List<FieldMeta> metas = new ArrayList<>();
    for (int i = 0; i < tables.length; i++) {
      FieldMeta field = fields.get(i);
      metas.add(new FieldMeta(field.spec(), field.stem(), absentCounts[i], valueBytes[i]));
    }
    return metas;
  }
}
