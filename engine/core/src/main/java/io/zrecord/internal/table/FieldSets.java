package io.zrecord.internal.table;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.internal.format.JsonObject;
import io.zrecord.internal.format.JsonTuple;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The sets of field ids that tables files have, each once, because most shards of a table have the
 * same fields. A tables file names its set by its ordinal. Belongs to one thread.
 */
final class FieldSets {
  private static final String NAME = "fieldSets";
  private static final long MOST_COMPARED = 1 << 24;

  private final Map<List<Integer>, Integer> ordinals = new LinkedHashMap<>();
  private final List<List<Integer>> sets = new ArrayList<>();

  /** Ordinals of sets that have no field in common. Shards of a table have few combinations. */
  private final Set<List<Integer>> disjoint = new HashSet<>();

  private long comparedCount;

  /** Returns the ordinal of a set, which is added if it is new. */
  int ordinalOf(List<Integer> fieldIds) {
    return ordinals.computeIfAbsent(fieldIds, added -> {
      sets.add(added);
      return sets.size() - 1;
    });
  }

  int count() {
    return sets.size();
  }

  /** Returns the set with an ordinal below {@link #count}. */
  List<Integer> get(int ordinal) {
    return sets.get(ordinal);
  }

  /** Tells whether no field is in two of the sets with some ordinals, or in one of them twice. */
  boolean areDisjoint(List<Integer> setOrdinals) {
    if (setOrdinals.size() < 2 || disjoint.contains(setOrdinals)) {
      return true;
    }
    Set<Integer> fields = new HashSet<>();
    for (int ordinal : setOrdinals) {
      List<Integer> set = sets.get(ordinal);
      int others = fields.size();
      comparedCount += set.size();
      // A file of any size is read in bounded time.
      fields.addAll(set);
      if (comparedCount > MOST_COMPARED || fields.size() < others + set.size()) {
        return false;
      }
    }
    disjoint.add(List.copyOf(setOrdinals));
    return true;
  }

  void write(ObjectNode node) {
    ArrayNode array = node.putArray(NAME);
    for (List<Integer> set : sets) {
      ArrayNode ids = array.addArray();
      set.forEach(ids::add);
    }
  }

  /** Reads the member of a manifest or a list. */
  static FieldSets read(JsonObject json) {
    FieldSets fieldSets = new FieldSets();
    for (JsonTuple tuple : JsonTuple.all(json, NAME, 0, Integer.MAX_VALUE)) {
      List<Integer> set = new ArrayList<>(tuple.size());
      int last = 0;
      for (int i = 0; i < tuple.size(); i++) {
        last = (int) tuple.integer(i, last + 1L, Integer.MAX_VALUE);
        set.add(last);
      }
      fieldSets.add(set);
    }
    return fieldSets;
  }

  /** Adds a set that was read, whose ordinal is the number of those before. */
  void add(List<Integer> fieldIds) {
    sets.add(List.copyOf(fieldIds));
  }
}
