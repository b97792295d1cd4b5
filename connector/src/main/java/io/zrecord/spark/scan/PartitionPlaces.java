package io.zrecord.spark.scan;

import io.zrecord.read.IndexSet;
import io.zrecord.schema.FieldSpec;
import io.zrecord.spark.partition.PartitionValues;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Places of records by the values of their partitions, which the lists of shards say: no file of a
 * shard is opened. Belongs to one thread.
 */
final class PartitionPlaces {
  private final List<Part> parts = new ArrayList<>();
  private final Map<String, FieldSpec> columns = new LinkedHashMap<>();
  private long length;

  /** Records of one partition that follow each other. */
  record Slice(List<@Nullable String> partition, long length) {}

  /** The slices of a version, known once they are asked for, and their values by column. */
  private record Part(
      List<FieldSpec> fields,
      long first,
      long length,
      Supplier<List<Slice>> slices,
      Map<String, Values> values) {
    List<String> names() {
      return fields.stream().map(FieldSpec::name).toList();
    }

    List<@Nullable Object> group(Slice slice, List<String> columns) {
      List<String> names = names();
      List<@Nullable Object> all = internal(fields, slice.partition);
      List<@Nullable Object> group = new ArrayList<>();
      columns.forEach(column -> group.add(all.get(names.indexOf(column))));
      return group;
    }
  }

  /** The values of a column, each once, and which of them each slice has. Immutable. */
  private static final class Values {
    private final List<@Nullable Object> distinct = new ArrayList<>();
    private final int[] ofSlices;

    Values(Part part, String column) {
      int ordinal = part.names().indexOf(column);
      FieldSpec field = part.fields.get(ordinal);
      List<Slice> slices = part.slices.get();
      ofSlices = new int[slices.size()];
      Map<Optional<String>, Integer> places = new HashMap<>();
      for (int i = 0; i < ofSlices.length; i++) {
        String text = slices.get(i).partition.get(ordinal);
        ofSlices[i] = places.computeIfAbsent(Optional.ofNullable(text), absent -> {
          distinct.add(PartitionValues.of(field, text));
          return distinct.size() - 1;
        });
      }
    }

    /** Returns what a condition says of each slice. Asks it once for each value. */
    List<@Nullable Boolean> decide(Condition condition) {
      List<@Nullable Boolean> ofValues = new ArrayList<>();
      distinct.forEach(value -> ofValues.add(condition.test(value)));
      List<@Nullable Boolean> decided = new ArrayList<>(ofSlices.length);
      for (int place : ofSlices) {
        decided.add(ofValues.get(place));
      }
      return decided;
    }
  }

  /** Decides on a value, which is null if the field is absent; null if that is neither. */
  interface Condition {
    @Nullable
    Boolean test(@Nullable Object value);
  }

  /** Looks at versions that follow each other. */
  PartitionPlaces(List<TableSnapshot> snapshots) {
    for (TableSnapshot snapshot : snapshots) {
      List<FieldSpec> fields =
          snapshot.hasKnownPartitionFields() ? snapshot.partitionFields() : List.of();
      add(fields, snapshot.length(), () -> slices(snapshot));
    }
  }

  /** Looks at records of known partitions. */
  PartitionPlaces(List<FieldSpec> fields, List<Slice> slices) {
    add(fields, slices.stream().mapToLong(Slice::length).sum(), () -> slices);
  }

  private void add(List<FieldSpec> fields, long count, Supplier<List<Slice>> slices) {
    parts.add(new Part(fields, length, count, slices, new HashMap<>()));
    fields.forEach(field -> columns.putIfAbsent(field.name(), field));
    length += count;
  }

  private static List<Slice> slices(TableSnapshot snapshot) {
    snapshot.loadShards(IndexSet.range(0, snapshot.length()));
    return snapshot.shards().stream()
        .map(shard -> new Slice(shard.partition(), shard.length()))
        .toList();
  }

  /** Returns the columns by which at least one of the versions is partitioned. */
  Set<String> columns() {
    return columns.keySet();
  }

  Optional<FieldSpec> field(String column) {
    return Optional.ofNullable(columns.get(column));
  }

  /** Returns where a condition on the value of a column is true and false. */
  Truth where(String column, Condition condition) {
    IndexSet.Builder holds = new IndexSet.Builder();
    IndexSet.Builder fails = new IndexSet.Builder();
    boolean isExact = true;
    for (Part part : parts) {
      if (part.fields.stream().noneMatch(field -> field.name().equals(column))) {
        add(holds, part.first, part.length);
        add(fails, part.first, part.length);
        isExact &= part.length == 0;
        continue;
      }
      Values values = part.values.computeIfAbsent(column, name -> new Values(part, name));
      long first = part.first;
      Iterator<@Nullable Boolean> decided = values.decide(condition).iterator();
      for (Slice slice : part.slices.get()) {
        Boolean is = decided.next();
        if (is != null) {
          add(is ? holds : fails, first, slice.length);
        }
        first += slice.length;
      }
    }
    return new Truth(holds.build(), fails.build(), isExact);
  }

  /**
   * Returns where a condition on all values of a partition may be true; empty if there are several
   * versions, whose partitions may differ.
   */
  Optional<IndexSet> where(Predicate<List<@Nullable Object>> condition) {
    if (parts.size() != 1 || columns.isEmpty()) {
      return Optional.empty();
    }
    List<FieldSpec> fields = parts.get(0).fields;
    IndexSet.Builder holds = new IndexSet.Builder();
    Map<List<@Nullable String>, Boolean> known = new HashMap<>();
    long first = 0;
    for (Slice slice : parts.get(0).slices.get()) {
      if (known.computeIfAbsent(slice.partition, p -> condition.test(internal(fields, p)))) {
        add(holds, first, slice.length);
      }
      first += slice.length;
    }
    return Optional.of(holds.build());
  }

  private static List<@Nullable Object> internal(
      List<FieldSpec> fields, List<@Nullable String> texts) {
    List<@Nullable Object> values = new ArrayList<>();
    for (int i = 0; i < fields.size(); i++) {
      values.add(
          PartitionValues.internal(fields.get(i), PartitionValues.of(fields.get(i), texts.get(i))));
    }
    return values;
  }

  /** Returns the partition fields of the only version; none if there are several. */
  List<FieldSpec> fieldsOfAll() {
    return parts.size() == 1 ? parts.get(0).fields : List.of();
  }

  /** Tells whether all versions are partitioned by a column. */
  boolean tellAll(String column) {
    return !parts.isEmpty() && parts.stream().allMatch(part -> part.names().contains(column));
  }

  /**
   * Returns how many of some places are in each group, by the values of columns as Spark's rows
   * have them.
   *
   * @param groups columns by which all versions are partitioned
   */
  Map<List<@Nullable Object>, Long> counts(List<String> groups, IndexSet of) {
    Map<List<@Nullable Object>, Long> counts = new LinkedHashMap<>();
    int range = 0;
    for (Part part : parts) {
      long first = part.first;
      for (Slice slice : part.slices.get()) {
        long end = first + slice.length;
        long count = 0;
        for (; range < of.rangeCount() && of.rangeFrom(range) < end; range++) {
          count +=
              Math.max(0, Math.min(end, of.rangeTo(range)) - Math.max(first, of.rangeFrom(range)));
          if (of.rangeTo(range) > end) {
            break;
          }
        }
        if (count > 0) {
          counts.merge(part.group(slice, groups), count, Long::sum);
        }
        first = end;
      }
    }
    return counts;
  }

  long length() {
    return length;
  }

  private static void add(IndexSet.Builder places, long first, long count) {
    if (count > 0) {
      places.add(first, first + count);
    }
  }
}
