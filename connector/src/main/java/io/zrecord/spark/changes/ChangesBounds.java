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
   * Returns the last version whose changes are told.
   *
   * @throws VersionNotFoundException if there is no such version
   */
  TableSnapshot end(DatasetPath path) {
    return last.map(bound -> end(path, bound)).orElseGet(path.table()::latest);
  }

  private static TableSnapshot end(DatasetPath path, Bound bound) {
    Optional<Instant> time = bound.instant(!bound.isIncluded());
    if (time.isPresent()) {
      return path.table().asOf(time.get());
    }
    TableSnapshot named = path.version(bound.moment()).snapshot();
    if (bound.isIncluded()) {
      return named;
    }
    if (named.version() == 0) {
      throw refusal(path, "before version 0, which is the first one; name a later version");
    }
    return path.table().version(named.version() - 1);
  }

  /**
   * Returns the range in the table at a path.
   *
   * @param end the last version
   * @throws VersionNotFoundException if there is no such version, or the first one comes after the
   *     last one
   */
  ChangesRange upTo(TableSnapshot end, DatasetPath path) {
    Optional<Instant> time = first.instant(first.isIncluded());
    if (time.isPresent()) {
      requireBeforeEnd(path, end);
      return new ChangesRange(
          Math.min(before(path.table(), time.get()), end.version()), end, isNet);
    }
    // The newest version is looked up once: another one may come at any time.
    long number = first.moment().isNewest() && isToNewest()
        ? end.version()
        : path.version(first.moment()).snapshot().version();
    boolean isEmpty = first.isIncluded()
        && last.filter(bound -> !bound.isIncluded() && bound.moment().instant().isEmpty())
            .isPresent()
        && number == end.version() + 1;
    if (number > end.version() && !isEmpty) {
      throw refusal(
          path,
          "from version " + number + " to version " + end.version()
              + ": the first one comes after the last one; name an earlier one first");
    }
    return new ChangesRange(first.isIncluded() ? number - 1 : number, end, isNet);
  }

  /** Requires that a time from which changes are told is none after an end that somebody named. */
  private void requireBeforeEnd(DatasetPath path, TableSnapshot end) {
    if (isToNewest()) {
      return;
    }
    Instant from = first.moment().instant().orElseThrow();
    Optional<Instant> to = last.flatMap(bound -> bound.moment().instant());
    if (from.isAfter(to.orElse(end.timestamp()))) {
      throw refusal(
          path,
          "from " + from + " to "
              + to.map(Instant::toString)
                  .orElse("version " + end.version() + " of " + end.timestamp())
              + ": the first time comes after the end; give an earlier one");
    }
  }

  /**
   * Returns the newest version at a time, the one before the oldest if the table is younger.
   *
   * @throws VersionNotFoundException if versions of that time, of which a tag keeps an earlier one,
   *     were expired
   */
  private static long before(RecordTable table, Instant time) {
    try {
      return table.asOf(time).version();
    } catch (VersionNotFoundException e) {
      long oldest = table.versions().get(0);
      if (!time.isBefore(table.version(oldest).timestamp())) {
        throw e;
      }
      return oldest - 1;
    }
  }

  private static VersionNotFoundException refusal(DatasetPath path, String reason) {
    String location = path.table().latest().storage().location();
    return new VersionNotFoundException(
        location, "Cannot tell the changes of " + location + " " + reason);
  }
}
