package io.zrecord.spark.write;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.ValueTooLargeException;
import io.zrecord.schema.Identity;
import io.zrecord.schema.IdentityRange;
import io.zrecord.table.IdentityNumbers;
import io.zrecord.table.RecordTable;
import java.io.Serializable;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A field that the table numbers in each row that has no value of the field. The driver reserves
 * the first numbers of all tasks by one commit. A task that needs more reserves them itself.
 * Immutable.
 *
 * @param ordinal place of the field among those that tasks write
 * @param name name of the field
 * @param identity the declaration of the table
 * @param reserved the first numbers of all tasks, as many for each; null if there are none
 * @param block how many of them each task has
 */
public record NumberedField(
    int ordinal, String name, Identity identity, @Nullable IdentityRange reserved, long block)
    implements Serializable {

  /**
   * Returns this field with numbers for some tasks. Without them each task reserves its own, and
   * says what is wrong, if a row needs one.
   */
  NumberedField reserving(RecordTable table, int tasks) {
    try {
      long ofTask = IdentityNumbers.firstBlock(tasks);
      IdentityRange all = table.reserve(identity, Math.multiplyExact(ofTask, tasks));
      return new NumberedField(ordinal, name, identity, all, ofTask);
    } catch (ValueTooLargeException | CommitOutcomeUnknownException e) {
      return this;
    }
  }

  /**
   * Returns the numbers of a task. Attempts of one task have the same first numbers: at most one of
   * them is committed.
   *
   * @param task number of the task, from 0
   */
  IdentityNumbers numbers(RecordTable table, int task) {
    return IdentityNumbers.ofTask(
        table, identity, name, Optional.ofNullable(reserved).map(all -> part(all, task)));
  }

  private IdentityRange part(IdentityRange all, int task) {
    return new IdentityRange(
        all.fieldId(), all.sequence(), all.valueAt(block * task), all.step(), block);
  }

  /** Refuses a value that a row brings of a field which is always generated. */
  IllegalArgumentException given() {
    return given(name);
  }

  /** Refuses a value of a field which is always generated. */
  public static IllegalArgumentException given(String name) {
    return new IllegalArgumentException("Cannot write a value to the column '" + name
        + "', which the table always generates; " + REMEDY);
  }

  /** What can be done if values of a field are given that are always generated. */
  static final String REMEDY =
      "leave the column out, give NULL, or declare the identity by default";
}
