package io.zrecord.spark.changes;

import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.spark.options.TimeTravel;
import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.Changelog;
import org.apache.spark.sql.connector.catalog.ChangelogContext;
import org.apache.spark.sql.connector.catalog.ChangelogRange;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The changes of a table as Spark 4.2 asks for them. Rows say before and after of an update, and
 * none says that a record was only written again, so that Spark has nothing to put together.
 * Immutable.
 */
public final class TableChangelog implements Changelog {
  /** Options that say what the context says, in lower case. */
  private static final Set<String> OF_CONTEXT = Set.of(
      "startingversion",
      "endingversion",
      "startingtimestamp",
      "endingtimestamp",
      "startingboundinclusive",
      "endingboundinclusive",
      "deduplicationmode",
      "computeupdates");

  private final ChangesTable table;

  private final ChangesRange range;
  private final boolean isToNewest;

  private TableChangelog(String name, ChangesRange range, boolean isToNewest) {
    this.table = new ChangesTable(name, range);
    this.range = range;
    this.isToNewest = isToNewest;
  }

  /** Returns the last version whose changes are told. */
  public TableSnapshot last() {
    return range.to();
  }

  /** Tells whether the last version was the newest, and nobody named it. */
  public boolean isToNewest() {
    return isToNewest;
  }

  /**
   * Returns the changes that a statement wants of a table.
   *
   * @param name name of the table, for people
   * @throws io.zrecord.spark.path.DatasetFailure if there is no such version, or the dataset is a
   *     store that is written online
   */
  public static Changelog of(String name, DatasetPath path, ChangelogContext context) {
    return SparkErrors.planned(
        () -> new TableChangelog(name + ".changes", range(path, context), isOpen(context.range())));
  }

  private static boolean isOpen(ChangelogRange range) {
    return range instanceof ChangelogRange.VersionRange versions
        ? versions.endingVersion().isEmpty()
        : range instanceof ChangelogRange.TimestampRange times
            && times.endingTimestamp().isEmpty();
  }

  private static ChangesRange range(DatasetPath path, ChangelogContext context) {
    if (path.store().isPresent()) {
      throw new IllegalArgumentException("Cannot tell the changes of " + path.path()
          + ": it is a store that is written online, and has no versions; append to it first,"
          + " which makes a table of it");
    }
    ChangelogRange asked = context.range();
    boolean isNet = context.deduplicationMode().name().equals("NET_CHANGES");
    RecordTable table = path.table();
    if (asked instanceof ChangelogRange.VersionRange versions) {
      long first = version(path, versions.startingVersion()).version();
      TableSnapshot last = versions
          .endingVersion()
          .map(text -> version(path, text))
          .map(end -> asked.endingBoundInclusive() ? end : before(table, end))
          .orElseGet(table::latest);
      return new ChangesRange(asked.startingBoundInclusive() ? first - 1 : first, last, isNet);
    }
    if (asked instanceof ChangelogRange.TimestampRange times) {
      long from =
          before(table, instant(times.startingTimestamp(), !asked.startingBoundInclusive()));
      TableSnapshot last = times
          .endingTimestamp()
          .map(end -> table.asOf(instant(end, asked.endingBoundInclusive())))
          .orElseGet(table::latest);
      return new ChangesRange(Math.min(from, last.version()), last, isNet);
    }
    throw new IllegalArgumentException("Cannot tell the changes of " + path.path()
        + " without an end; name a range of versions or times");
  }

  private static TableSnapshot version(DatasetPath path, String text) {
    return path.version(TimeTravel.of(text)).snapshot();
  }

  private static TableSnapshot before(RecordTable table, TableSnapshot end) {
    return table.version(end.version() - 1);
  }

  /** Returns the newest version at a time, −1 if the table is younger. */
  private static long before(RecordTable table, Instant time) {
    try {
      return table.asOf(time).version();
    } catch (VersionNotFoundException e) {
      return table.versions().get(0) - 1;
    }
  }

  /** Returns a time, or the last one before. */
  private static Instant instant(long micros, boolean isIncluded) {
    return Instant.EPOCH.plus(micros, ChronoUnit.MICROS).minusNanos(isIncluded ? 0 : 1);
  }

  @Override
  public String name() {
    return table.name();
  }

  @Override
  public Column[] columns() {
    StructField[] fields = table.schema().fields();
    Column[] columns = new Column[fields.length];
    for (int i = 0; i < fields.length; i++) {
      columns[i] = Column.create(fields[i].name(), fields[i].dataType(), fields[i].nullable());
    }
    return columns;
  }

  /** Returns false: a record that was written again as it was is no change. */
  @Override
  public boolean containsCarryoverRows() {
    return false;
  }

  /**
   * Returns false. Spark asks this to compute net changes, which the engine computes along the
   * versions: a record is followed by its place, for which a table needs no key.
   */
  @Override
  public boolean containsIntermediateChanges() {
    return false;
  }

  /** Returns false: an update is told by the record before and the record after. */
  @Override
  public boolean representsUpdateAsDeleteAndInsert() {
    return false;
  }

  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    Map<String, String> others = new HashMap<>(options.asCaseSensitiveMap());
    others.keySet().removeIf(key -> OF_CONTEXT.contains(key.toLowerCase(Locale.ROOT)));
    return table.newScanBuilder(new CaseInsensitiveStringMap(others));
  }
}
