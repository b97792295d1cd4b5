package io.zrecord.spark.changes;

import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.spark.options.ChangesConf;
import io.zrecord.spark.options.TimeTravel;
import io.zrecord.spark.path.DatasetPath;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.time.Instant;
import java.util.Optional;

/**
 * The versions whose changes are asked for, by their numbers, tags or times. Immutable.
 *
 * @param first the first version, or a time from which on commits are told
 * @param last the last version, or a time up to which commits are told; the newest version if empty
 * @param isNet whether each record is told once, however many versions changed the record
 */
record ChangesBounds(Bound first, Optional<Bound> last, boolean isNet) {

  /**
   * An end of the range.
   *
   * @param isIncluded whether the version, or a commit of exactly this time, is told
   */
  record Bound(TimeTravel moment, boolean isIncluded) {
    /** Returns the time before which, or at which, the range begins or ends. */
    private Optional<Instant> instant(boolean isBefore) {
      return moment.instant().map(time -> time.minusNanos(isBefore ? 1 : 0));
    }
  }

  /** Returns what the options of a read ask for, which include both ends. */
  static ChangesBounds of(ChangesConf conf) {
    return new ChangesBounds(
        new Bound(conf.from(), true),
        conf.to().map(moment -> new Bound(moment, true)),
        conf.isNet());
  }

  /** Tells whether the last version is the newest, and nobody named it. */
  boolean isToNewest() {
    return last.map(bound -> bound.moment().isNewest()).orElse(true);
  }

  /**
   * Returns the range in the table at a path.
   *
   * @throws VersionNotFoundException if there is no such version, or the first one comes after the
   *     last one
   */
  ChangesRange in(DatasetPath path) {
    RecordTable table = path.table();
    TableSnapshot end = last.map(bound -> end(path, bound)).orElseGet(table::latest);
    Optional<Instant> time = first.instant(first.isIncluded());
    if (time.isPresent()) {
      return new ChangesRange(Math.min(before(table, time.get()), end.version()), end, isNet);
    }
    long number = path.version(first.moment()).snapshot().version();
    return new ChangesRange(first.isIncluded() ? number - 1 : number, end, isNet);
  }

  private static TableSnapshot end(DatasetPath path, Bound bound) {
    Optional<Instant> time = bound.instant(!bound.isIncluded());
    if (time.isPresent()) {
      return path.table().asOf(time.get());
    }
    TableSnapshot named = path.version(bound.moment()).snapshot();
    return bound.isIncluded() ? named : path.table().version(named.version() - 1);
  }

  /** Returns the newest version at a time, the one before the oldest if the table is younger. */
  private static long before(RecordTable table, Instant time) {
    try {
      return table.asOf(time).version();
    } catch (VersionNotFoundException e) {
      return table.versions().get(0) - 1;
    }
  }
}
