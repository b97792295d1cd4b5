package io.zrecord.spark.rows;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.connector.write.RowLevelOperation.Command;

/**
 * Collects why an {@code UPDATE} or a {@code MERGE} reads or writes columns that it does not
 * assign. Lives on the driver, in the thread that plans the statement.
 */
final class RowFallbacks {
  private final Set<String> checked = new TreeSet<>();
  private final Set<String> partly = new TreeSet<>();
  private boolean isOtherPlan;
  private boolean hasNoRecord;
  private boolean isReplacement;

  /** Notes that the rule has seen a plan that it does not know. */
  void otherPlan() {
    isOtherPlan = true;
  }

  /** Notes that the statement finds no record, as Spark knows before it reads. */
  void noRecord() {
    hasNoRecord = true;
  }

  /** Notes columns whose values the checks of the table look at. */
  void checked(Collection<String> columns) {
    checked.addAll(columns);
  }

  /** Notes columns that some updates of a {@code MERGE} assign, and others do not. */
  void partly(Collection<String> columns) {
    partly.addAll(columns);
  }

  /** Notes that the statement replaces the records that meet a condition. */
  void replacement() {
    isReplacement = true;
  }

  /** Returns the columns that some updates assign, and others do not. */
  Set<String> partly() {
    return partly;
  }

  /**
   * Returns the reasons.
   *
   * @param unchanged the columns that no update assigns; empty if nobody has found out
   * @param moving the partition columns of which records may get other values
   */
  List<String> of(Command command, Optional<Set<String>> unchanged, List<String> moving) {
    List<String> told = new ArrayList<>();
    if (isReplacement) {
      told.add("the records to replace are found by a scan, because partitions do not decide the"
          + " condition");
    }
    if (command == Command.DELETE || isReplacement) {
      return told;
    }
    if (unchanged.isEmpty() && hasNoRecord) {
      return told;
    }
    if (unchanged.isEmpty()) {
      told.add("updated rows have all columns, which are read and compared with what is there,"
          + " because "
          + (isOtherPlan
              ? "zrecord does not know the plan that this Spark makes of the statement"
              : "the session runs without the rule ColumnsOfRowChanges"));
    } else if (!moving.isEmpty()) {
      told.add("all columns are read, and written of records that move, because records may get"
          + " other values of the partition columns " + moving);
    } else {
      Set<String> kept = new TreeSet<>(checked);
      kept.retainAll(unchanged.get());
      if (!kept.isEmpty()) {
        told.add("the columns " + kept + " are read, because checks of the table look at them");
      }
    }
    if (!partly.isEmpty()) {
      told.add("the columns " + partly + " are written of every updated record, because some"
          + " clauses assign them and others do not");
    }
    return told;
  }
}
