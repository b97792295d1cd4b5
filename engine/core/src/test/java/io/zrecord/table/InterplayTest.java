package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordFieldsWriter;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.findings.Finding;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.read.FieldReader;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.rebalance.TableRelayout;
import io.zrecord.rebalance.order.RecordOrder;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.Budget;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random changes of records, fields, shards and versions, some planned long before they are
 * committed, against a list: each version that is kept reads as the list was.
 */
final class InterplayTest {
  /** In fewer rounds little comes together. */
  private static final int ROUNDS = Math.max(20, Budget.of(40));

  private static final List<ElementType> SCALARS = List.of(
      ElementType.I8,
      ElementType.I16,
      ElementType.I32,
      ElementType.I64,
      ElementType.U8,
      ElementType.U16,
      ElementType.F32,
      ElementType.DATE,
      ElementType.UTF8,
      ElementType.BYTES,
      ElementType.decimal(4, 1),
      ElementType.decimal(12, 1),
      ElementType.BOOL);
  private static final Map<ElementType, List<ElementType>> PROMOTED = Map.of(
      ElementType.I8,
      List.of(ElementType.I16, ElementType.I32, ElementType.I64),
      ElementType.I16,
      List.of(ElementType.I32, ElementType.I64),
      ElementType.I32,
      List.of(ElementType.I64),
      ElementType.U8,
      List.of(ElementType.U16, ElementType.U32, ElementType.U64),
      ElementType.U16,
      List.of(ElementType.U32),
      ElementType.F32,
      List.of(ElementType.F64),
      ElementType.DATE,
      List.of(ElementType.TIMESTAMP_NTZ),
      ElementType.UTF8,
      List.of(ElementType.BYTES),
      ElementType.decimal(4, 1),
      List.of(ElementType.decimal(5, 1), ElementType.decimal(12, 1)),
      ElementType.decimal(12, 1),
      List.of(ElementType.decimal(18, 1), ElementType.decimal(30, 1)));

  private final Random random = Budget.random();

  @TempDir
  Path directory;

  private Storage storage;
  private RecordTable table;
  private Instant now = Instant.now();
  private final List<String> log = new ArrayList<>();

  /** A value as it was given. */
  @SuppressWarnings("ArrayRecordComponent") // Never compared
  private record Val(ElementType type, long[] elements, byte @Nullable [] raw) {
    @SuppressWarnings("ReferenceEquality") // There is one absent value
    boolean absent() {
      return this == ABSENT;
    }
  }

  private static final Val ABSENT = new Val(ElementType.BYTES, new long[0], null);

  /** A record: values by the number of the field. What is missing is the initial default. */
  private static final class Rec {
    final Map<Integer, Val> values = new HashMap<>();
  }

  private record Version(List<FieldSpec> fields, List<Map<Integer, Val>> records) {}

  /** A change to commit later, and what it does to the list. */
  private record Pending(String what, Runnable commit, Runnable effect) {}

  private List<Rec> records = new ArrayList<>();
  private Map<Integer, Val> initials = new HashMap<>();
  private final Map<Long, Version> versions = new LinkedHashMap<>();
  private final List<Pending> pending = new ArrayList<>();
  private int names;

  // ---- values

  private Val value(FieldSpec field) {
    if (field.rules().isNullable() && random.nextInt(6) == 0) {
      return ABSENT;
    }
    return present(field);
  }

  private Val present(FieldSpec field) {
    ElementType type = field.type();
    if (type.widthBytes().isEmpty()) {
      byte[] raw = new byte[random.nextInt(random.nextInt(20) == 0 ? 3000 : 12)];
      for (int i = 0; i < raw.length; i++) {
        raw[i] = (byte) ('a' + random.nextInt(3));
      }
      return new Val(type, new long[0], raw);
    }
    int count = field.shape().isVariable()
        ? random.nextInt(4)
        : field.shape().elementCount().orElse(1);
    long[] elements = new long[count];
    for (int i = 0; i < count; i++) {
      elements[i] = switch (type.kind()) {
        case BOOL -> random.nextInt(2);
        case U8 -> random.nextInt(256);
        case U16 -> random.nextInt(65536);
        case U32, U64 -> random.nextInt() & 0xffff_ffffL;
        case I8 -> (byte) random.nextInt();
        case I16, DECIMAL -> random.nextInt(9000) - 4500;
        case F32 -> random.nextInt(1 << 20) - (1 << 19);
        case DATE -> random.nextInt(40000) - 10000;
        default -> random.nextInt();
      };
    }
    return new Val(type, elements, null);
  }

  private static byte[] encode(Val value, ElementType type) {
    if (value.raw != null) {
      return value.raw;
    }
    int width = type.widthBytes().orElseThrow();
    ByteBuffer bytes =
        ByteBuffer.allocate(width * value.elements.length).order(ByteOrder.LITTLE_ENDIAN);
    for (long element : value.elements) {
      switch (type.kind()) {
        case F32 -> bytes.putFloat((float) element);
        case F64 -> bytes.putDouble((double) element);
        default -> {
          boolean isDay = value.type.equals(ElementType.DATE) && !type.equals(ElementType.DATE);
          long stored = isDay ? element * 86_400_000_000L : element;
          for (int i = 0; i < width; i++) {
            bytes.put((byte) (i < 8 ? stored >> (8 * i) : stored >> 63));
          }
        }
      }
    }
    return bytes.array();
  }

  private FieldSpec newField(String name, boolean isFirst) {
    ElementType type = SCALARS.get(random.nextInt(SCALARS.size()));
    Shape shape = Shape.scalar();
    if (type.widthBytes().isPresent() && random.nextInt(4) == 0) {
      shape = random.nextBoolean() ? Shape.of(3) : Shape.of(-1);
    }
    FieldSpec field = new FieldSpec(1, name, type, shape, compression());
    if (!isFirst && random.nextInt(2) == 0) {
      field = field.withRules(new FieldRules(random.nextBoolean(), null, null, "")
          .withInitial(encode(present(field), type)));
    }
    return field;
  }

  private Compression compression() {
    return random.nextInt(3) == 0
        ? Compression.RAW
        : Compression.of(random.nextBoolean() ? Codec.LZ4 : Codec.ZSTD);
  }

  private WriteOptions options() {
    return WriteOptions.defaults()
        .withDurability(Durability.NONE)
        .withBlockBytes(random.nextInt(3) == 0 ? 0 : 4096)
        .withStripeBytes(64 << 10)
        .withChunkBytes(100 << 10);
  }

  // ---- operations: each returns a change that may be committed later

  private Pending append() {
    TableSnapshot base = table.latest();
    List<FieldSpec> fields = base.schema().fields();
    List<Rec> added = new ArrayList<>();
    List<ShardSummary> shards = new ArrayList<>();
    for (int left = 1 + random.nextInt(2); left > 0; left--) {
      shards.add(shard(fields, base.schema(), added));
    }
    TableChange change = TableChange.of(TableChange.Kind.APPEND, base.schema())
        .base(base)
        .shards(shards)
        .build();
    return new Pending("append", () -> table.commit(change), () -> records.addAll(added));
  }

  private ShardSummary shard(List<FieldSpec> fields, RecordSchema schema, List<Rec> added) {
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), schema, options())) {
      int count = 1 + random.nextInt(random.nextInt(8) == 0 ? 3000 : 60);
      for (int i = 0; i < count; i++) {
        Rec rec = new Rec();
        for (int f = 0; f < fields.size(); f++) {
          Val value = value(fields.get(f));
          rec.values.put(fields.get(f).id(), value);
          if (!value.absent()) {
            byte[] bytes = encode(value, fields.get(f).type());
            writer.put(f, bytes, 0, bytes.length);
          }
        }
        writer.endRecord();
        added.add(rec);
      }
      return writer.finish().orElseThrow();
    }
  }

  private Pending overwrite() {
    TableSnapshot base = table.latest();
    List<FieldSpec> fields = new ArrayList<>(base.schema().fields());
    if (fields.size() > 1 && random.nextBoolean()) {
      fields.remove(random.nextInt(fields.size()));
    }
    RecordSchema schema = new RecordSchema(fields);
    List<Rec> added = new ArrayList<>();
    List<ShardSummary> shards = List.of(
        shard(fields, schema, added), shard(fields, schema, added), shard(fields, schema, added));
    TableChange change = TableChange.of(TableChange.Kind.OVERWRITE, schema)
        .base(base)
        .shards(shards)
        .build();
    return new Pending(
        "overwrite", () -> table.commit(change), () -> records = new ArrayList<>(added));
  }

  private Pending rows() {
    TableSnapshot base = table.latest();
    List<Rec> seen = new ArrayList<>(records);
    RowChange change = RowChange.of(base);
    IdentityHashMap<Rec, Map<Integer, Val>> updates = new IdentityHashMap<>();
    Set<Rec> deleted = new HashSet<>();
    if (seen.isEmpty()) {
      return append();
    }
    int first = random.nextInt(seen.size());
    int near = random.nextBoolean() ? seen.size() : 50;
    int size = 1 + random.nextInt(random.nextInt(4) == 0 ? 200 : 10);
    List<FieldSpec> fields = base.schema().fields();
    for (int i = 0; i < size; i++) {
      int index = (first + random.nextInt(near)) % seen.size();
      Rec rec = seen.get(index);
      if (random.nextInt(3) == 0 && seen.size() - deleted.size() > 5) {
        change.delete(index);
        deleted.add(rec);
        updates.remove(rec);
      } else if (!deleted.contains(rec)) {
        FieldSpec field = fields.get(random.nextInt(fields.size()));
        Val value = value(field);
        change.update(index, field.name(), value.absent() ? null : encode(value, field.type()));
        updates.computeIfAbsent(rec, key -> new HashMap<>()).put(field.id(), value);
      }
    }
    if (random.nextInt(15) == 0) {
      // A whole shard.
      int shard = random.nextInt(base.shards().size());
      if (base.shards().size() > 1) {
        for (long i = base.firstIndex(shard); i < base.firstIndex(shard + 1); i++) {
          change.delete(i);
          deleted.add(seen.get((int) i));
          updates.remove(seen.get((int) i));
        }
      }
    }
    return new Pending("rows of " + base.version(), () -> change.commit(table), () -> {
      updates.forEach((rec, values) -> rec.values.putAll(values));
      records.removeIf(deleted::contains);
    });
  }

  private Pending fields() {
    boolean isNew = random.nextBoolean();
    TableSnapshot latest = table.latest();
    FieldSpec named =
        latest.schema().fields().get(random.nextInt(latest.schema().fields().size()));
    FieldSpec field = isNew ? newField(name(), false) : named;
    RecordFieldsWriter writer = isNew
        ? RecordFieldsWriter.add(table, List.of(field), options())
        : RecordFieldsWriter.rewrite(table, Set.of(field.name()), options());
    FieldSpec spec = writer.schema().fields().get(0);
    IdentityHashMap<Rec, Val> values = new IdentityHashMap<>();
    for (int shard = 0; shard < latest.shards().size(); shard++) {
      if (random.nextInt(3) > 0) {
        RecordAppender appender = writer.newAppender(shard);
        for (long i = latest.firstIndex(shard); i < latest.firstIndex(shard + 1); i++) {
          Val value = value(spec);
          values.put(records.get((int) i), value);
          if (!value.absent()) {
            appender.set(spec.name(), encode(value, spec.type()));
          }
          appender.endRecord();
        }
        writer.finish(shard);
      }
    }
    return new Pending(
        (isNew ? "add " : "rewrite ") + spec,
        () -> {
          try (writer) {
            writer.commit();
          }
        },
        () -> {
          if (isNew) {
            initial(spec);
          }
          values.forEach((rec, value) -> rec.values.put(spec.id(), value));
        });
  }

  private void initial(FieldSpec spec) {
    initials.put(
        spec.id(),
        spec.rules().initial().map(bytes -> decoded(bytes, spec.type())).orElse(ABSENT));
  }

  private static Val decoded(byte[] bytes, ElementType type) {
    if (type.widthBytes().isEmpty()) {
      return new Val(type, new long[0], bytes);
    }
    int width = type.widthBytes().orElseThrow();
    long[] elements = new long[bytes.length / width];
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < elements.length; i++) {
      elements[i] = switch (type.kind()) {
        case F32 -> (long) buffer.getFloat(i * 4);
        case F64 -> (long) buffer.getDouble(i * 8);
        default -> {
          boolean isUnsigned = type.toString().startsWith("u") || type.equals(ElementType.BOOL);
          long number = isUnsigned || bytes[i * width + width - 1] >= 0 ? 0 : -1;
          for (int k = Math.min(8, width) - 1; k >= 0; k--) {
            number = (number << 8) | (bytes[i * width + k] & 0xff);
          }
          yield number;
        }
      };
    }
    return new Val(type, elements, null);
  }

  private String name() {
    return random.nextBoolean() ? "f" + names++ : "n" + random.nextInt(4);
  }

  private Pending schema() {
    TableSnapshot base = table.latest();
    List<FieldSpec> fields = base.schema().fields();
    FieldSpec field = fields.get(random.nextInt(fields.size()));
    int kind = random.nextInt(7);
    SchemaChange change = SchemaChange.of(base);
    Runnable effect = () -> {};
    if (kind == 0 && fields.size() > 1) {
      change.drop(field.name());
    } else if (kind == 1) {
      change.rename(field.name(), name());
    } else if (kind == 2) {
      change.redefine(field.name(), old -> old.withCompression(compression()));
    } else if (kind == 3) {
      change.redefine(field.name(), old -> old.withRules(old.rules().withNullable(true)));
    } else if (kind == 4 || !PROMOTED.containsKey(field.type())) {
      change.add(newField(name(), false), place(fields));
      FieldSpec added = change.schema().find(base.nextFieldId()).orElseThrow();
      effect = () -> initial(added);
    } else if (kind == 5) {
      List<ElementType> types = PROMOTED.get(field.type());
      change.promote(field.name(), types.get(random.nextInt(types.size())));
    }
    if (random.nextBoolean() && change.schema().find(field.name()).isPresent()) {
      change.move(field.name(), random.nextBoolean() ? FieldPlace.first() : FieldPlace.last());
    }
    return new Pending("schema " + kind + " " + field, () -> change.commit(table), effect);
  }

  private FieldPlace place(List<FieldSpec> fields) {
    return random.nextInt(3) == 0
        ? FieldPlace.first()
        : FieldPlace.after(fields.get(random.nextInt(fields.size())).name());
  }

  private Pending rebalance() {
    RebalanceOptions options = RebalanceOptions.defaults().withWrite(options());
    if (random.nextBoolean()) {
      options = options.withAllShards().withShardBytes(1000, 1 << 20);
    }
    if (random.nextInt(3) == 0) {
      List<FieldSpec> fields = table.latest().schema().fields();
      options = options.withCompression(
          Map.of(fields.get(random.nextInt(fields.size())).name(), compression()));
    }
    RebalancePlan plan = RebalancePlan.of(table.latest(), options);
    return new Pending(
        "rebalance of " + plan.snapshot().version(),
        () -> TableRebalance.of(plan).threads(1).run(),
        () -> {});
  }

  private Pending relayout() {
    TableSnapshot base = table.latest();
    return new Pending(
        "relayout",
        () -> {
          TableSnapshot after = TableRelayout.of(base, RecordOrder.shuffle(random.nextLong()))
              .layout(options(), 1 << 20)
              .threads(1)
              .run()
              .snapshot();
          IndexMap map = after.indexMap().orElseThrow();
          Rec[] moved = new Rec[records.size()];
          for (int i = 0; i < moved.length; i++) {
            moved[(int) map.newIndex(i)] = records.get(i);
          }
          records = new ArrayList<>(List.of(moved));
        },
        () -> {});
  }

  private void care() throws IOException {
    int kind = random.nextInt(4);
    if (kind == 0) {
      List<Long> all = table.versions();
      long version = all.get(random.nextInt(all.size()));
      if (table.tags().stream().noneMatch(tag -> tag.version() == version)) {
        table.tag(version, "t" + names++);
      }
    } else if (kind == 1) {
      now = now.plus(Duration.ofHours(3));
      table.expire(ExpireOptions.defaults()
          .withKeepVersions(1 + random.nextInt(4))
          .withOlderThan(Duration.ofHours(1))
          .withMode(CareMode.DELETE));
    } else if (kind == 2 && !table.tags().isEmpty()) {
      table.untag(table.tags().get(0).name());
    } else {
      try (Stream<Path> all = Files.walk(directory)) {
        for (Path path : (Iterable<Path>) all::iterator) {
          if (random.nextInt(20) > 0) {
            Files.setLastModifiedTime(
                path, FileTime.from(Instant.now().minus(Duration.ofHours(200))));
          }
        }
      }
      SweepResult result =
          table.sweep(SweepOptions.defaults().withMode(CareMode.DELETE), orphan -> {});
      log.add("swept " + result);
    }
  }

  // ---- the test

  private void commit(Pending change) {
    try {
      change.commit.run();
    } catch (CommitConflictException | SchemaMismatchException | CommitOutcomeUnknownException e) {
      log.add("refused " + change.what + ": " + e.getMessage());
      return;
    } catch (MissingFileException e) {
      // Swept: what was written is as old as the files of a write that died, or the base is gone.
      assertThat(log).as("%s", e).anyMatch(did -> did.startsWith("swept"));
      return;
    } catch (RuntimeException e) {
      throw new AssertionError(change.what + " " + log, e);
    }
    log.add(change.what);
    change.effect.run();
  }

  private Pending plan(int kind) {
    if (kind < 22) {
      return append();
    } else if (kind < 25) {
      return overwrite();
    } else if (kind < 58) {
      return rows();
    } else if (kind < 74) {
      return fields();
    } else if (kind < 88) {
      return schema();
    }
    return kind < 97 ? rebalance() : relayout();
  }

  private void remember() {
    TableSnapshot latest = table.latest();
    List<Map<Integer, Val>> copy = new ArrayList<>();
    for (Rec rec : records) {
      Map<Integer, Val> values = new HashMap<>();
      for (FieldSpec field : latest.schema().fields()) {
        Val value = rec.values.get(field.id());
        values.put(field.id(), value == null ? initials.getOrDefault(field.id(), ABSENT) : value);
      }
      copy.add(values);
    }
    versions.put(latest.version(), new Version(latest.schema().fields(), copy));
  }

  private void requireEqual(TableSnapshot snapshot, Version expected) {
    String what = snapshot + " " + log;
    assertThat(snapshot.schema().fields()).as(what).isEqualTo(expected.fields);
    assertThat(snapshot.length()).as(what).isEqualTo(expected.records.size());
    List<Verification> verifications = List.of(Verification.values());
    Verification verification = verifications.get(random.nextInt(verifications.size()));
    try (RecordDataset dataset = RecordDataset.open(
        snapshot, new RecordDataset.ReadOptions(verification, new ReadMetrics()))) {
      for (FieldSpec field : expected.fields) {
        FieldReader reader = dataset.reader(field.name());
        int length = expected.records.size();
        long[] indices =
            random.longs(length == 0 ? 0 : 40, 0, Math.max(1, length)).toArray();
        reader.select(indices, 0, indices.length);
        for (int i = 0; i < indices.length; i++) {
          requireEqual(reader, i, field, expected.records.get((int) indices[i]), what, indices[i]);
        }
        for (int done = 0; done < length; ) {
          int taken = reader.selectRange(
              done, Math.min(length - done, 1 + random.nextInt(2000)), 1 + random.nextInt(9000));
          byte[] all = new byte[(int) reader.totalLengthBytes()];
          reader.copyAll(all, 0);
          int at = 0;
          for (int i = 0; i < taken; i++) {
            requireEqual(reader, i, field, expected.records.get(done + i), what, done + i);
            int width = field.valueWidthBytes().orElse(reader.lengthBytes(i));
            byte[] part = Arrays.copyOfRange(all, at, at + width);
            at += width;
            byte[] wanted = reader.isAbsent(i) ? new byte[width] : reader.value(i);
            assertThat(part).as(what + " " + field + " all " + (done + i)).isEqualTo(wanted);
          }
          done += taken;
        }
      }
    } catch (ZRecordException e) {
      throw new AssertionError(what, e);
    }
  }

  private static void requireEqual(
      FieldReader reader, int i, FieldSpec field, Map<Integer, Val> record, String what, long at) {
    Val value = Objects.requireNonNull(record.get(field.id()));
    String where = what + " " + field + " at " + at;
    assertThat(reader.isAbsent(i)).as(where).isEqualTo(value.absent());
    if (!value.absent()) {
      assertThat(reader.value(i)).as(where).isEqualTo(encode(value, field.type()));
    }
  }

  private void requireSound() {
    List<Finding> findings = new ArrayList<>();
    DatasetCheck.of(directory.toString()).run(finding -> {
      if (finding.kind() != Finding.Kind.ORPHAN && finding.kind() != Finding.Kind.NOTE) {
        findings.add(finding);
      }
    });
    assertThat(findings).as("%s", log).isEmpty();
  }

  @Test
  void eachVersionReadsAsTheListWas() throws IOException {
    storage = LocalStorage.at(directory);
    table = RecordTable.at(storage, () -> now);
    List<FieldSpec> first = new ArrayList<>();
    for (int i = 1; i <= 4; i++) {
      first.add(newField("f" + names++, true).withId(i));
    }
    RecordSchema schema = new RecordSchema(first);
    table.commit(TableChange.of(TableChange.Kind.CREATE, schema)
        .shards(List.of(shard(first, schema, records), shard(first, schema, records)))
        .build());
    remember();
    for (int round = 0; round < ROUNDS; round++) {
      int kind = random.nextInt(100);
      Pending change;
      try {
        if (kind < 8) {
          care();
          remember();
          continue;
        }
        change = plan(kind);
      } catch (SchemaMismatchException e) {
        continue; // A name is taken.
      } catch (IllegalArgumentException e) {
        throw new AssertionError(log.toString(), e);
      }
      if (change.what.equals("relayout") || random.nextInt(3) > 0) {
        commit(change);
      } else {
        pending.add(change);
      }
      if (!pending.isEmpty() && random.nextInt(3) == 0) {
        commit(pending.remove(random.nextInt(pending.size())));
      }
      if (random.nextInt(4) == 0) {
        OpenShards.shared().clear();
      }
      remember();
      TableSnapshot latest = table.latest();
      requireEqual(latest, Objects.requireNonNull(versions.get(latest.version())));
    }
    for (long version : table.versions()) {
      Version expected = versions.get(version);
      if (expected != null) {
        requireEqual(table.version(version), expected);
      }
    }
    requireSound();
  }
}
