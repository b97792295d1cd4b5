package io.zrecord.changes;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordFieldsWriter;
import io.zrecord.read.FieldReader;
import io.zrecord.read.IndexSet;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.TableRebalance;
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
import io.zrecord.table.ChangeBase;
import io.zrecord.table.MergeChange;
import io.zrecord.table.RecordTable;
import io.zrecord.table.RowChange;
import io.zrecord.table.ShardChangeWriter;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.table.write.ShardWriter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * A table, and lists of the records of all its versions, where a record has an identity and says
 * which version last gave a value to each field. Each commit compares the table with the list.
 */
final class ModelTable {
  static final WriteOptions WRITE =
      WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE);
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("number", ElementType.I32)
      .field("text", ElementType.UTF8)
      .build();

  final Storage storage;
  final RecordTable table;
  final TreeMap<Long, List<Item>> versions = new TreeMap<>();
  final Map<Long, RecordSchema> schemas = new HashMap<>();

  private final Random random;
  private long nextId;

  /**
   * A record of a version.
   *
   * @param values by the id of the field; a field is missing where the value is absent
   * @param given the version that last changed the field, by its id
   */
  record Item(long id, Map<Integer, String> values, Map<Integer, Long> given) {
    Item {
      values = Map.copyOf(values);
      given = Map.copyOf(given);
    }

    Item with(int field, @Nullable String value, long version) {
      Map<Integer, String> newValues = new HashMap<>(values);
      newValues.remove(field);
      if (value != null) {
        newValues.put(field, value);
      }
      Map<Integer, Long> newGiven = new HashMap<>(given);
      if (version >= 0) {
        newGiven.put(field, version);
      }
      return new Item(id, newValues, newGiven);
    }

    Item without(int field) {
      Item absent = with(field, null, -1);
      Map<Integer, Long> left = new HashMap<>(given);
      left.remove(field);
      return new Item(id, absent.values, left);
    }
  }

  /** Creates the table. */
  ModelTable(Storage storage, Random random, int... shards) {
    this.storage = storage;
    this.random = random;
    this.table = RecordTable.at(storage);
    List<Item> items = new ArrayList<>();
    List<ShardSummary> written =
        IntStream.of(shards).mapToObj(count -> shard(SCHEMA, count, items)).toList();
    note(
        table.commit(
            TableChange.of(TableChange.Kind.CREATE, SCHEMA).shards(written).build()),
        items);
  }

  List<Item> newest() {
    return versions.lastEntry().getValue();
  }

  RecordSchema schema() {
    return schemas.get(versions.lastKey());
  }

  private long next() {
    return versions.lastKey() + 1;
  }

  private void note(TableSnapshot version, List<Item> items) {
    assertThat(valuesOf(version))
        .as("%s", version)
        .isEqualTo(items.stream().map(Item::values).toList());
    assertThat(versions).doesNotContainKey(version.version());
    // Care is a version, too.
    for (long before = versions.isEmpty() ? version.version() : next();
        before < version.version();
        before++) {
      schemas.put(before, schemas.get(versions.lastKey()));
      versions.put(before, newest());
    }
    schemas.put(version.version(), version.schema());
    versions.put(version.version(), List.copyOf(items));
  }

  /** Returns the values of a version, which the table was compared with; none for −1. */
  List<Map<Integer, String>> values(long version) {
    return version < 0
        ? List.of()
        : versions.get(version).stream().map(Item::values).toList();
  }

  private static List<Map<Integer, String>> valuesOf(TableSnapshot version) {
    try (RecordDataset dataset =
        RecordDataset.open(version, RecordDataset.ReadOptions.defaults())) {
      int length = (int) dataset.length();
      long[] all = LongStream.range(0, length).toArray();
      List<Map<Integer, String>> records = new ArrayList<>();
      IntStream.range(0, length).forEach(i -> records.add(new HashMap<>()));
      for (FieldSpec field : dataset.schema().fields()) {
        FieldReader reader = dataset.reader(field.name());
        reader.select(all, 0, length);
        for (int i = 0; i < length; i++) {
          if (!reader.isAbsent(i)) {
            records.get(i).put(field.id(), text(field.type(), reader.value(i)));
          }
        }
      }
      return records;
    }
  }

  static String text(ElementType type, byte[] value) {
    ByteBuffer bytes = ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN);
    return type.equals(ElementType.I32)
        ? "" + bytes.getInt()
        : type.equals(ElementType.I64)
            ? "" + bytes.getLong()
            : new String(value, StandardCharsets.UTF_8);
  }

  private static byte[] bytes(ElementType type, String text) {
    if (type.equals(ElementType.UTF8)) {
      return text.getBytes(StandardCharsets.UTF_8);
    }
    byte[] value = new byte[type.equals(ElementType.I32) ? Integer.BYTES : Long.BYTES];
    ByteBuffer bytes = ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN);
    if (type.equals(ElementType.I32)) {
      bytes.putInt(Integer.parseInt(text));
    } else {
      bytes.putLong(Long.parseLong(text));
    }
    return value;
  }

  private @Nullable String anyValue() {
    return random.nextInt(5) == 0 ? null : "" + random.nextInt(1000);
  }

  private static @Nullable Object object(FieldSpec field, @Nullable String text) {
    return text == null || field.type().equals(ElementType.UTF8)
        ? text
        : field.type().equals(ElementType.I32)
            ? (Object) Integer.parseInt(text)
            : (Object) Long.parseLong(text);
  }

  private ShardSummary shard(RecordSchema schema, int count, List<Item> items) {
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), schema, WRITE)) {
      for (int i = 0; i < count; i++) {
        Item item = new Item(nextId++, Map.of(), Map.of());
        for (int field = 0; field < schema.fields().size(); field++) {
          FieldSpec spec = schema.fields().get(field);
          String text = anyValue();
          if (text != null) {
            byte[] value = bytes(spec.type(), text);
            writer.put(field, value, 0, value.length);
          }
          item = item.with(spec.id(), text, -1);
        }
        items.add(item);
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  void append(int count) {
    List<Item> items = new ArrayList<>(newest());
    List<ShardSummary> added = List.of(shard(schema(), count, items));
    note(commit(TableChange.Kind.APPEND, added), items);
  }

  void overwrite(int... shards) {
    List<Item> items = new ArrayList<>();
    RecordSchema schema = schema();
    List<ShardSummary> added =
        IntStream.of(shards).mapToObj(count -> shard(schema, count, items)).toList();
    note(commit(TableChange.Kind.OVERWRITE, added), items);
  }

  /** Overwrites the table with some shards of an earlier version, as they were there. */
  void restore(long version) {
    TableSnapshot earlier = table.version(version);
    List<Item> items = new ArrayList<>();
    List<ShardSummary> shards = new ArrayList<>();
    for (int ordinal = 0; ordinal < earlier.shards().size(); ordinal++) {
      ShardSummary shard = earlier.shards().get(ordinal);
      if (shards.isEmpty() || random.nextInt(4) > 0) {
        shards.add(shard);
        int first = (int) earlier.firstIndex(ordinal);
        versions
            .get(version)
            .subList(first, first + (int) shard.length())
            .forEach(item -> items.add(restored(item, version)));
      }
    }
    note(commit(TableChange.Kind.OVERWRITE, shards), items);
  }

  /** Returns the record that a restored shard has: another one, with the values of then. */
  private Item restored(Item then, long version) {
    Item item = new Item(nextId++, Map.of(), Map.of());
    for (FieldSpec field : schema().fields()) {
      boolean wasThere = schemas.get(version).find(field.id()).isPresent();
      String value = wasThere
          ? then.values.get(field.id())
          : field.rules().initial().map(bytes -> text(field.type(), bytes)).orElse(null);
      item = item.with(field.id(), value, -1);
    }
    return item;
  }

  private TableSnapshot commit(TableChange.Kind kind, List<ShardSummary> added) {
    return table.commit(
        TableChange.of(kind, schema()).base(table.latest()).shards(added).build());
  }

  /** Deletes and changes records. */
  void change(List<Integer> deleted, List<Integer> changed) {
    RowChange change = RowChange.of(table.latest());
    List<@Nullable Item> items = new ArrayList<>(newest());
    for (int index : deleted) {
      change.delete(index);
      items.set(index, null);
    }
    for (int index : changed) {
      Item item = newest().get(index);
      for (FieldSpec field : someFields()) {
        String value = anyValue();
        change.update(index, field.name(), object(field, value));
        item = item.with(field.id(), value, next());
      }
      items.set(index, item);
    }
    note(change.commit(), items.stream().filter(Objects::nonNull).toList());
  }

  private List<FieldSpec> someFields() {
    List<FieldSpec> fields = new ArrayList<>(schema().fields());
    Collections.shuffle(fields, random);
    return fields.subList(0, 1 + random.nextInt(fields.size()));
  }

  /** Deletes, changes and adds records in one commit. */
  void merge(int added) {
    TableSnapshot base = table.latest();
    List<Item> items = new ArrayList<>(newest());
    int ordinal = random.nextInt(base.shards().size());
    ShardSummary shard = base.shards().get(ordinal);
    int first = (int) base.firstIndex(ordinal);
    MergeChange merge = MergeChange.of(base);
    FieldSpec field = someFields().get(0);
    try (ShardChangeWriter writer =
        ShardChangeWriter.open(storage, ChangeBase.of(base), shard, Set.of(field.name()))) {
      for (int i = (int) shard.length() - 1; i >= 0; i--) {
        switch (random.nextInt(6)) {
          case 0 -> {
            writer.delete(i);
            items.remove(first + i);
          }
          case 1 -> {
            String value = anyValue();
            writer.update(i, field.name(), object(field, value));
            items.set(first + i, items.get(first + i).with(field.id(), value, next()));
          }
          default -> {}
        }
      }
      merge.change(writer.finish());
    }
    List<ShardSummary> shards = added == 0 ? List.of() : List.of(shard(schema(), added, items));
    TableSnapshot after = merge.adding(shards).commit();
    // A merge of nothing commits nothing.
    if (after.version() > versions.lastKey()) {
      note(after, items);
    }
  }

  void rebalance() {
    TableRebalance.of(RebalancePlan.of(
            table.latest(), RebalanceOptions.defaults().withAllShards().withWrite(WRITE)))
        .run();
    noteCare();
  }

  /** Notes versions with the same records. */
  void noteCare() {
    if (table.latest().version() > versions.lastKey()) {
      note(table.latest(), newest());
    }
  }

  private static FieldSpec field(String name, ElementType type) {
    return new FieldSpec(1, name, type, Shape.scalar(), Compression.RAW);
  }

  void addFieldWithDefault(String name) {
    String value = "" + random.nextInt(1000);
    byte[] initial = bytes(ElementType.UTF8, value);
    TableSnapshot after = table.addFields(
        List.of(field(name, ElementType.UTF8).withRules(FieldRules.NONE.withInitial(initial))));
    int id = after.schema().find(name).orElseThrow().id();
    note(after, newest().stream().map(item -> item.with(id, value, -1)).toList());
  }

  void addFieldWithValues(String name) {
    try (RecordFieldsWriter writer =
        RecordFieldsWriter.add(table, List.of(field(name, ElementType.I32)), WRITE)) {
      noteValues(writer, name);
    }
  }

  void rewrite(String name) {
    try (RecordFieldsWriter writer = RecordFieldsWriter.rewrite(table, Set.of(name), WRITE)) {
      noteValues(writer, name);
    }
  }

  /** Gives a value to each record of some shards. */
  private void noteValues(RecordFieldsWriter writer, String name) {
    List<Item> items = new ArrayList<>(newest());
    int id = writer.schema().find(name).orElseThrow().id();
    FieldSpec field = writer.schema().find(name).orElseThrow();
    int shards = writer.base().shards().size();
    int chosen = random.nextInt(shards);
    for (int shard = 0; shard < shards; shard++) {
      if (shard != chosen && random.nextInt(3) > 0) {
        continue;
      }
      RecordAppender values = writer.newAppender(shard);
      int first = (int) writer.base().firstIndex(shard);
      for (int i = first; i < first + writer.base().shards().get(shard).length(); i++) {
        String value = anyValue();
        values.set(name, object(field, value)).endRecord();
        items.set(i, items.get(i).with(id, value, next()));
      }
    }
    note(writer.commit(), items);
  }

  void drop(String name) {
    int id = schema().find(name).orElseThrow().id();
    note(table.dropField(name), newest().stream().map(item -> item.without(id)).toList());
  }

  void rename(String name, String newName) {
    note(table.renameField(name, newName), newest());
  }

  void promote(String name) {
    note(table.promoteField(name, ElementType.I64), newest());
  }

  /** Returns some indices of the newest version, each once. */
  List<Integer> someIndices(int count) {
    List<Integer> all =
        new ArrayList<>(IntStream.range(0, newest().size()).boxed().toList());
    Collections.shuffle(all, random);
    return all.subList(0, Math.min(count, all.size()));
  }

  /** Returns what differs between two versions, as the lists say. */
  RecordChanges differences(long from, long to) {
    List<Item> before = from < 0 ? List.of() : versions.get(from);
    List<Item> after = versions.get(to);
    Map<Long, Integer> places = new HashMap<>();
    for (int i = 0; i < before.size(); i++) {
      places.put(before.get(i).id, i);
    }
    boolean[] isKept = new boolean[before.size()];
    List<Integer> inserted = new ArrayList<>();
    List<Integer> changedBefore = new ArrayList<>();
    List<Integer> changedAfter = new ArrayList<>();
    TreeMap<Integer, List<Integer>> fields = new TreeMap<>();
    for (int i = 0; i < after.size(); i++) {
      Integer place = places.get(after.get(i).id);
      if (place == null) {
        inserted.add(i);
        continue;
      }
      isKept[place] = true;
      boolean isChanged = false;
      for (Map.Entry<Integer, Long> given : after.get(i).given.entrySet()) {
        if (given.getValue() > from) {
          fields.computeIfAbsent(given.getKey(), id -> new ArrayList<>()).add(place);
          isChanged = true;
        }
      }
      if (isChanged) {
        changedBefore.add(place);
        changedAfter.add(i);
      }
    }
    List<Integer> deleted =
        IntStream.range(0, isKept.length).filter(i -> !isKept[i]).boxed().toList();
    TreeMap<Integer, IndexSet> byField = new TreeMap<>();
    fields.forEach((id, indices) -> byField.put(id, set(indices)));
    return new RecordChanges(
        set(inserted), set(deleted), set(changedBefore), set(changedAfter), byField);
  }

  private static IndexSet set(List<Integer> indices) {
    return IndexSet.of(indices.stream().mapToLong(Integer::longValue).toArray());
  }
}
