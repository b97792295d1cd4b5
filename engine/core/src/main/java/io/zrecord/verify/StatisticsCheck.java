package io.zrecord.verify;

import io.zrecord.RecordDataset;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.PatchField;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.format.StatisticsCollector;
import io.zrecord.internal.format.StatisticsRecord;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.internal.shard.layout.FieldStatistics;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.internal.verify.CheckRun;
import io.zrecord.internal.verify.FileProblem;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.storage.Storage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Compares the statistics of the fields of a shard with the values (FORMAT.md section 5). A value
 * beyond its bounds is one that a search would not find. Belongs to one thread.
 */
final class StatisticsCheck {
  private static final int READ_COUNT = 1 << 12;
  private static final long READ_BYTES = 1 << 20;

  private final CheckRun run;
  private final Storage storage;
  private byte[] value = new byte[1 << 10];

  StatisticsCheck(CheckRun run, Storage storage) {
    this.run = run;
    this.storage = storage;
  }

  /**
   * Checks a shard, whose values can be read or are reported by another check.
   *
   * @param schema the fields of the version that names the shard
   */
  void check(ShardSummary shard, RecordSchema schema) {
    // The statistics of the tables do not have what the patch changes.
    ShardSummary unpatched = new ShardSummary(
        shard.id(), shard.slots(), shard.chunks(), shard.tables(), shard.valueBytes());
    for (TablesRef ref : shard.tables()) {
      try {
        TablesFile file = TablesFile.open(storage, unpatched, ref, kept -> {});
        for (int id : ref.fieldIds()) {
          check(unpatched, file, file.json().field(id), nameOf(schema, id));
        }
      } catch (ZRecordException e) {
        // Damage that the check of the shard reports.
      }
    }
    checkPatch(shard, schema);
  }

  private void checkPatch(ShardSummary shard, RecordSchema schema) {
    PatchRef ref = shard.patch();
    if (ref == null) {
      return;
    }
    try {
      PatchFile patch = PatchFile.open(storage, shard, ref);
      for (int id : patch.json().fields().keySet()) {
        check(shard, patch, patch.json().field(id), nameOf(schema, id));
      }
    } catch (ZRecordException e) {
      // Damage that the check of the patch reports.
    }
  }

  private void check(ShardSummary shard, PatchFile patch, PatchField field, @Nullable String name) {
    if (!field.statistics().isPresent()) {
      return;
    }
    FieldSpec spec = new FieldSpec(
        field.id(), "field " + field.id(), field.type(), field.shape(), field.compression());
    StatisticsCollector collector = collector(spec, patch.path(), name);
    if (collector == null) {
      return;
    }
    RankedBitmap slots = patch.changed(field).slots();
    RankedBitmap deleted = patch.deleted();
    if (deleted != null && slots.slotsIf(deleted::contains).length > 0) {
      return; // The check of the patch reports that.
    }
    List<StatisticsRecord> records;
    try {
      records = patch.statistics(field.id(), slots);
    } catch (CorruptDataException e) {
      run.found(Kind.META, patch.path(), name, FileProblem.of(e));
      return;
    }
    try (RecordDataset dataset = open(spec, shard)) {
      collect(dataset.reader(spec.name()), slots, deleted, collector);
    }
    compare(records, collector.records(), patch.path(), name);
  }

  private void collect(
      FieldReader reader,
      RankedBitmap slots,
      @Nullable RankedBitmap deleted,
      StatisticsCollector collector) {
    long[] indices = slots.slots();
    for (int i = 0; i < indices.length; i++) {
      boolean isLast = i + 1 == indices.length
          || indices[i] / StatisticsRecord.SLOTS != indices[i + 1] / StatisticsRecord.SLOTS;
      indices[i] -= deleted == null ? 0 : deleted.rank(indices[i]);
      reader.select(indices, i, 1);
      add(reader, 0, collector);
      if (isLast) {
        collector.endBlock();
      }
    }
  }

  private RecordDataset open(FieldSpec spec, ShardSummary shard) {
    return RecordDataset.openShard(
        storage,
        new RecordSchema(List.of(spec), List.of()),
        shard,
        RecordDataset.ReadOptions.defaults());
  }

  private @Nullable StatisticsCollector collector(
      FieldSpec spec, String path, @Nullable String name) {
    StatisticsCollector collector = StatisticsCollector.of(spec);
    if (collector == null) {
      run.found(
          Kind.META,
          path,
          name,
          "it has statistics, but is " + spec.type() + spec.shape()
              + ", whose values are not ordered");
    }
    return collector;
  }

  private static @Nullable String nameOf(RecordSchema schema, int id) {
    return schema.find(id).map(FieldSpec::name).orElse(null);
  }

  private void check(
      ShardSummary shard, TablesFile file, FieldTables field, @Nullable String name) {
    if (!field.statistics().isPresent()) {
      return;
    }
    FieldSpec spec = new FieldSpec(
        field.id(), "field " + field.id(), field.type(), field.shape(), field.compression());
    StatisticsCollector collector = collector(spec, file.path(), name);
    if (collector == null) {
      return;
    }
    List<StatisticsRecord> records;
    try {
      records = FieldStatistics.read(file, field);
    } catch (CorruptDataException e) {
      run.found(Kind.META, file.path(), name, FileProblem.of(e));
      return;
    }
    try (RecordDataset dataset = open(spec, shard)) {
      collect(dataset.reader(spec.name()), shard.length(), collector);
    } catch (ZRecordException e) {
      return; // Damage that the check of the shard reports.
    }
    compare(records, collector.records(), file.path(), name);
  }

  private void compare(
      List<StatisticsRecord> records,
      List<StatisticsRecord> found,
      String path,
      @Nullable String name) {
    for (int i = 0; i < records.size(); i++) {
      String problem = problem(records.get(i), found.get(i));
      if (problem != null) {
        run.found(Kind.COUNT, path, name, "the statistics of block " + i + " say " + problem);
      }
    }
  }

  private void collect(FieldReader reader, long length, StatisticsCollector collector) {
    for (long from = 0; from < length; ) {
      int count = reader.selectRange(from, (int) Math.min(READ_COUNT, length - from), READ_BYTES);
      for (int i = 0; i < count; i++) {
        add(reader, i, collector);
        if ((from + i + 1) % StatisticsRecord.SLOTS == 0 || from + i + 1 == length) {
          collector.endBlock();
        }
      }
      from += count;
    }
  }

  private void add(FieldReader reader, int place, StatisticsCollector collector) {
    if (reader.isAbsent(place)) {
      collector.addAbsent();
      return;
    }
    int bytes = reader.lengthBytes(place);
    if (bytes > value.length) {
      // The shorter array may go before the longer one exists.
      value = new byte[0];
      value = new byte[bytes];
    }
    reader.copyValue(place, value, 0);
    collector.add(value, 0, bytes);
  }

  /** Returns how a record is wrong; null if the values are as the record says. */
  private static @Nullable String problem(StatisticsRecord stored, StatisticsRecord found) {
    if (stored.absentCount() != found.absentCount()) {
      return stored.absentCount() + " absent values, but there are " + found.absentCount();
    }
    if (!stored.isKnown()) {
      return stored.nanCount() == 0 ? null : "that there are NaN, but no bounds";
    }
    if (stored.nanCount() < found.nanCount()
        || (stored.isExact() && stored.nanCount() > found.nanCount())) {
      return stored.nanCount() + " NaN, but there are " + found.nanCount();
    }
    if (stored.isExact()) {
      return stored.equals(found) ? null : "bounds that are not those of the values";
    }
    if (found.isEmpty()) {
      return null;
    }
    boolean isWithin = stored.contains(found.leastHigh(), found.leastLow())
        && stored.contains(found.mostHigh(), found.mostLow());
    return isWithin ? null : "bounds that a value is not within";
  }
}
