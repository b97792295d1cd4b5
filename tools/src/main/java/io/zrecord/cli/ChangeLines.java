package io.zrecord.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.Batch;
import io.zrecord.RecordSource;
import io.zrecord.changes.RecordChanges;
import io.zrecord.changes.RecordMoves;
import io.zrecord.read.IndexSet;
import io.zrecord.schema.FieldSpec;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Prints changed records, each as a JSON object in a line. Reads the values that are printed, and
 * holds those of some dozen records. Belongs to one thread.
 */
final class ChangeLines {
  /** Records whose values are read at once. */
  private static final int BATCH = 64;

  private final PrintWriter out;
  private final ObjectNode head;
  private final RecordSource before;
  private final RecordSource after;
  private final RecordMoves moves;

  /**
   * Prepares to print.
   *
   * @param head the members with which each object begins
   * @param before the version before; may be any if no record was deleted or changed
   * @param after the version
   * @param moves which inserted records are deleted ones
   */
  ChangeLines(
      PrintWriter out,
      ObjectNode head,
      RecordSource before,
      RecordSource after,
      RecordMoves moves) {
    this.out = out;
    this.head = head;
    this.before = before;
    this.after = after;
    this.moves = moves;
  }

  /** Prints the records that were deleted, those that were changed, and those inserted. */
  void print(RecordChanges records) throws IOException {
    printWhole("delete", "before", before, records.deleted());
    printChanged(records);
    printWhole("insert", "after", after, records.inserted());
  }

  private void printWhole(String change, String member, RecordSource records, IndexSet indices)
      throws IOException {
    Indices left = new Indices(indices);
    for (long[] part = left.next(); part.length > 0; part = left.next()) {
      List<ObjectNode> values = objects(part.length);
      try (Batch batch = records.gather(part)) {
        for (FieldSpec field : records.schema().fields()) {
          for (int i = 0; i < part.length; i++) {
            put(values.get(i), field, batch, i);
          }
        }
      }
      for (int i = 0; i < part.length; i++) {
        ObjectNode line = line(change).put("index", part[i]);
        if (records == after) {
          moves.beforeOf(part[i]).ifPresent(index -> line.put("indexBefore", index));
        }
        line.set(member, values.get(i));
        out.println(ValueJson.MAPPER.writeValueAsString(line));
      }
    }
  }

  private void printChanged(RecordChanges records) throws IOException {
    Indices leftBefore = new Indices(records.changedBefore());
    Indices leftAfter = new Indices(records.changedAfter());
    for (long[] then = leftBefore.next(); then.length > 0; then = leftBefore.next()) {
      long[] now = leftAfter.next();
      List<ObjectNode> old = changed(before, then, then, records);
      List<ObjectNode> young = changed(after, now, then, records);
      for (int i = 0; i < then.length; i++) {
        ObjectNode line = line("update").put("index", now[i]).put("indexBefore", then[i]);
        line.set("before", old.get(i));
        line.set("after", young.get(i));
        out.println(ValueJson.MAPPER.writeValueAsString(line));
      }
    }
  }

  /**
   * Reads the values of the fields in which each record was changed.
   *
   * @param indices the records in the version that is read
   * @param then the same records in the version before
   */
  private static List<ObjectNode> changed(
      RecordSource version, long[] indices, long[] then, RecordChanges records) {
    List<ObjectNode> values = objects(indices.length);
    for (FieldSpec field : version.schema().fields()) {
      IndexSet changed = records.fields().getOrDefault(field.id(), IndexSet.empty());
      long[] wanted = new long[indices.length];
      List<ObjectNode> targets = new ArrayList<>();
      for (int i = 0; i < indices.length; i++) {
        if (changed.contains(then[i])) {
          wanted[targets.size()] = indices[i];
          targets.add(values.get(i));
        }
      }
      if (!targets.isEmpty()) {
        try (Batch batch = version.gather(Arrays.copyOf(wanted, targets.size()), field.name())) {
          for (int i = 0; i < targets.size(); i++) {
            put(targets.get(i), field, batch, i);
          }
        }
      }
    }
    return values;
  }

  private static List<ObjectNode> objects(int count) {
    List<ObjectNode> objects = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      objects.add(ValueJson.MAPPER.createObjectNode());
    }
    return objects;
  }

  private static void put(ObjectNode values, FieldSpec field, Batch batch, int i) {
    if (batch.isAbsent(field.name(), i)) {
      values.putNull(field.name());
    } else {
      values.set(field.name(), ValueJson.of(field, batch.bytes(field.name(), i)));
    }
  }

  private ObjectNode line(String change) {
    return head.deepCopy().put("change", change);
  }

  /** The indices of a set, some at a time. */
  private static final class Indices {
    private final IndexSet set;
    private int range;
    private long passed;

    Indices(IndexSet set) {
      this.set = set;
    }

    /** Returns the next ones; none at the end. */
    long[] next() {
      long[] indices = new long[BATCH];
      int count = 0;
      while (count < BATCH && range < set.rangeCount()) {
        long index = set.rangeFrom(range) + passed++;
        indices[count++] = index;
        if (index + 1 == set.rangeTo(range)) {
          range++;
          passed = 0;
        }
      }
      return Arrays.copyOf(indices, count);
    }
  }
}
