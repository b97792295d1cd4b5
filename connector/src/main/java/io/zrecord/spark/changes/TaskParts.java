package io.zrecord.spark.changes;

import io.zrecord.spark.path.TableLocation;
import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.connector.read.InputPartition;

/**
 * Collects parts of changes, and puts neighbours into tasks: as many tasks as the bytes to read
 * need, whatever the number of versions. Belongs to one thread of the driver.
 */
final class TaskParts {
  private static final long MIN_BYTES = 1L << 20;
  private static final long MAX_BYTES = 128L << 20;

  /** What opening the files of a part costs, in bytes that are read meanwhile. */
  private static final long COST_BYTES = 64L << 10;

  /** Most parts of a task, each of which takes some hundred bytes of the task. */
  private static final int MOST_PARTS = 256;

  /** How many tasks a core gets, so that unequal ones even out. */
  private static final int TASKS_PER_CORE = 4;

  private final Storage storage;
  private final int parallelism;
  private final List<Part> parts = new ArrayList<>();

  private record Part(ChangePart part, long bytes) {}

  TaskParts(Storage storage, int parallelism) {
    this.storage = storage;
    this.parallelism = parallelism;
  }

  /** Returns the most bytes of a part of which any piece can be a part. */
  static long mostBytes() {
    return MAX_BYTES;
  }

  /**
   * Adds a part.
   *
   * @param bytes about how many bytes of values are read
   */
  void add(ChangePart part, long bytes) {
    parts.add(new Part(part, COST_BYTES + bytes));
  }

  /** Returns the tasks. */
  InputPartition[] divide() {
    long total = parts.stream().mapToLong(Part::bytes).sum();
    long enough =
        Math.max(MIN_BYTES, Math.min(MAX_BYTES, total / ((long) TASKS_PER_CORE * parallelism)));
    List<InputPartition> tasks = new ArrayList<>();
    List<ChangePart> ofTask = new ArrayList<>();
    long bytes = 0;
    for (Part part : parts) {
      boolean isFull = bytes + part.bytes > enough || ofTask.size() == MOST_PARTS;
      if (isFull && !ofTask.isEmpty()) {
        tasks.add(task(ofTask));
        ofTask.clear();
        bytes = 0;
      }
      ofTask.add(part.part);
      bytes += part.bytes;
    }
    if (!ofTask.isEmpty()) {
      tasks.add(task(ofTask));
    }
    return tasks.toArray(InputPartition[]::new);
  }

  private ChangesPartition task(List<ChangePart> ofTask) {
    return new ChangesPartition(TableLocation.of(storage), List.copyOf(ofTask));
  }
}
