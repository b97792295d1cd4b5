package io.zrecord.table;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.ShardListFile;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.NestedType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.table.write.ShardWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Tables of four shards whose field {@code value} is stored in different ways. */
enum CarriedLayout {
  PLAIN {
    @Override
    void create(Storage storage) {
      write(storage, ElementType.UTF8, 0, RECORDS);
    }
  },
  NESTED {
    @Override
    void create(Storage storage) {
      ElementType turns = ElementType.nested(NestedType.listOf(new NestedType.StructOf(List.of(
          new NestedType.Member("role", NestedType.of(ElementType.UTF8)),
          new NestedType.Member("tokens", NestedType.listOf(NestedType.of(ElementType.I32)))))));
      write(storage, turns, 0, RECORDS);
    }

    @Override
    Object value(int number) {
      return List.of(
          Map.of("role", "role " + number, "tokens", List.of(number, number + 1)), Map.of());
    }
  },
  /** The tables have a narrower type. */
  PROMOTED {
    @Override
    void create(Storage storage) {
      write(storage, ElementType.I32, 0, RECORDS);
      RecordTable.at(storage).promoteField("value", ElementType.I64);
    }

    @Override
    Object value(int number) {
      return -number;
    }
  },
  /** The tables and a patch have a narrower type. */
  PROMOTED_OVER_A_PATCH {
    @Override
    void create(Storage storage) {
      write(storage, ElementType.I32, 0, RECORDS);
      RowChange change = RowChange.of(RecordTable.at(storage).latest());
      for (int number = 13; number < RECORDS; number += 20) {
        change.update(number, "value", 1000 + number);
      }
      change.commit();
      RecordTable.at(storage).promoteField("value", ElementType.I64);
    }

    @Override
    Object value(int number) {
      return -number;
    }

    @Override
    boolean isCarried() {
      return false;
    }
  },
  /** Most shards lack the field. */
  DEFAULT {
    @Override
    void create(Storage storage) {
      write(storage, null, 0, 3 * SHARD);
      FieldSpec field =
          new FieldSpec(1, "value", ElementType.UTF8, Shape.scalar(), Compression.RAW);
      byte[] initial = "initial".getBytes(UTF_8);
      RecordTable.at(storage)
          .addFields(List.of(field.withRules(FieldRules.NONE.withInitial(initial))));
      write(storage, ElementType.UTF8, 3 * SHARD, RECORDS);
    }

    @Override
    Object value(int number) {
      return number < 3 * SHARD ? "initial" : super.value(number);
    }
  },
  /** Two shards of each of two partitions. */
  PARTITIONED {
    @Override
    void create(Storage storage) {
      RecordSchema schema = RecordSchema.builder()
          .field("number", ElementType.I64)
          .field("value", ElementType.UTF8)
          .field("kind", ElementType.UTF8)
          .build();
      List<ShardSummary> shards = new ArrayList<>();
      for (int first = 0; first < RECORDS; first += SHARD) {
        String kind = first < 2 * SHARD ? "a" : "b";
        try (ShardWriter writer = ShardWriter.create(
            storage, UUID.randomUUID(), schema, WRITE, List.of(3), List.of(kind))) {
          for (int number = first; number < first + SHARD; number++) {
            byte[] value = ((String) value(number)).getBytes(UTF_8);
            writer.putLong(0, number);
            writer.put(1, value, 0, value.length);
            writer.put(2, kind.getBytes(UTF_8), 0, kind.length());
            writer.endRecord();
          }
          shards.add(writer.finish().orElseThrow());
        }
      }
      RecordTable.at(storage)
          .commit(TableChange.of(TableChange.Kind.CREATE, schema)
              .shards(shards)
              .partitionedBy(List.of(3))
              .build());
    }
  },
  /** The manifest names lists of lists, as that of a table of very many shards. */
  LISTS_OF_LISTS {
    @Override
    void create(Storage storage) {
      write(storage, ElementType.UTF8, 0, RECORDS);
      ManifestLog log = new ManifestLog(storage);
      Manifest newest = log.newest().orElseThrow();
      List<ShardListFile> lists = new ArrayList<>();
      for (int first = 0; first < 4; first += 2) {
        List<ShardListFile> members = new ArrayList<>();
        for (ShardSummary shard : newest.shards().subList(first, first + 2)) {
          members.addAll(log.writeLists(List.of(shard), new ArrayList<>()));
        }
        lists.add(log.writeListOfLists(members, new ArrayList<>()));
      }
      Manifest.Head head = Manifest.Head.after(
          Optional.of(newest),
          UUID.randomUUID(),
          OptionalLong.of(newest.version()),
          System.currentTimeMillis(),
          "rebalance",
          Map.of());
      Manifest listed = new Manifest(
          head,
          newest.schema(),
          newest.nextFieldId(),
          lists,
          List.of(),
          newest.transactions(),
          Optional.empty(),
          new Manifest.Retention(head.asRecords(), newest.oldest(), List.of()));
      log.publish(listed);
      log.leaveHint(listed);
    }
  };

  static final WriteOptions WRITE =
      WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE);

  /** Records of a shard. */
  static final int SHARD = 20;

  static final int RECORDS = 4 * SHARD;

  /** Creates the table. Record <i>i</i> has {@code number} <i>i</i>. */
  abstract void create(Storage storage);

  /** Returns the value with which the record of a number was written, as a Java value. */
  Object value(int number) {
    return "text " + number;
  }

  /** Tells whether a change can follow its records: a patch has values of one type. */
  boolean isCarried() {
    return true;
  }

  /**
   * Appends shards.
   *
   * @param type type of {@code value}; null to leave the field out
   */
  void write(Storage storage, @Nullable ElementType type, int from, int to) {
    RecordSchema.Builder schema = RecordSchema.builder().field("number", ElementType.I64);
    if (type != null) {
      schema.field("value", type);
    }
    try (RecordDatasetWriter writer = RecordDatasetWriter.append(storage, schema.build(), WRITE)) {
      for (int first = from; first < to; first += SHARD) {
        RecordAppender records = writer.newAppender();
        for (int number = first; number < first + SHARD; number++) {
          records.set("number", (long) number);
          if (type != null) {
            records.set("value", value(number));
          }
          records.endRecord();
        }
      }
      writer.commit();
    }
  }
}
