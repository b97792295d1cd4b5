package io.zrecord.spark.changes;

import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.spark.changes.ChangesBounds.Bound;
import io.zrecord.spark.options.ChangesConf;
import io.zrecord.spark.options.TimeTravel;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.ReadPaths;
import io.zrecord.spark.path.Unsupported;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
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

  private final String name;
  private final ChangesTable table;
  private final boolean hasFirst;
  private final ChangelogContext context;

  private TableChangelog(
      String name, ChangesTable table, boolean hasFirst, ChangelogContext context) {
    this.name = name;
    this.table = table;
    this.hasFirst = hasFirst;
    this.context = context;
  }

  /** Returns the last version whose changes are told. */
  public TableSnapshot last() {
    return table.last();
  }

  /** Tells whether the last version was the newest, and nobody named it. */
  public boolean isToNewest() {
    return table.isToNewest();
  }

  /**
   * Returns the changes that a statement wants of a table.
   *
   * @param name name of the table, for people
   * @throws VersionNotFoundException if there is no such last version. A batch fails when its tasks
   *     are planned if there is no such first version, and a stream if it begins
   * @throws IllegalArgumentException if the dataset is a store that is written online
   */
  public static Changelog of(
      String name, ReadPaths paths, ChangelogContext context, ChangesTable.Streams streams) {
    DatasetPath path = ChangesTable.requireTable(paths);
    Optional<ChangesBounds> bounds = bounds(context);
    TableSnapshot last = bounds.map(of -> of.end(path)).orElseGet(path.table()::latest);
    Optional<ChangesRange> range = Optional.empty();
    Optional<RuntimeException> problem = Optional.empty();
    try {
      range = bounds.map(of -> of.upTo(last, path));
    } catch (VersionNotFoundException e) {
      // A stream may be past a first version that is expired by now. Spark says later that it is
      // one.
      problem = Optional.of(e);
    }
    return new TableChangelog(
        name + ".changes",
        new ChangesTable(
            paths,
            last,
            range,
            bounds.map(ChangesBounds::isToNewest).orElse(true),
            Optional.of(streams),
            problem),
        problem.isEmpty(),
        context);
  }

  /** Returns the ends of the range; empty if there is none, as a stream may have it. */
  private static Optional<ChangesBounds> bounds(ChangelogContext context) {
    ChangelogRange asked = context.range();
    TimeTravel first;
    Optional<TimeTravel> last;
    if (asked instanceof ChangelogRange.VersionRange versions) {
      first = TimeTravel.of(versions.startingVersion());
      last = versions.endingVersion().map(TimeTravel::of);
    } else if (asked instanceof ChangelogRange.TimestampRange times) {
      first = TimeTravel.atMicros(times.startingTimestamp());
      last = times.endingTimestamp().map(TimeTravel::atMicros);
    } else {
      return Optional.empty();
    }
    return Optional.of(new ChangesBounds(
        new Bound(first, asked.startingBoundInclusive()),
        last.map(end -> new Bound(end, asked.endingBoundInclusive())),
        isNet(context)));
  }

  private static boolean isNet(ChangelogContext context) {
    return context.deduplicationMode().name().equals("NET_CHANGES");
  }

  @Override
  public String name() {
    return name;
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
    ChangesConf.among(new CaseInsensitiveStringMap(others)).forEach((key, value) -> {
      throw new IllegalArgumentException(
          "Option " + key + " has the value '" + value
              + "', and does not go with CHANGES; use FROM and TO, or startingVersion and endingVersion");
    });
    Map<String, String> ofStream = new HashMap<>(others);
    ofStream.put(ZRecordOptions.READ_CHANGES, "true");
    if (hasFirst) {
      bounds(context).ifPresent(bounds -> putStart(bounds.first(), ofStream));
    }
    return table.newScanBuilder(
        new CaseInsensitiveStringMap(others),
        new CaseInsensitiveStringMap(ofStream),
        this::requireOfStream);
  }

  /** Says where a stream begins, as the options of a stream do. */
  private void putStart(Bound first, Map<String, String> options) {
    int exclusive = first.isIncluded() ? 0 : 1;
    if (first.moment().isNewest()) {
      options.put(ZRecordOptions.STARTING_VERSION, TimeTravel.NEWEST);
    } else if (first.moment().instant().isPresent()) {
      Instant time = first.moment().instant().get().plus(exclusive, ChronoUnit.MICROS);
      options.put(ZRecordOptions.STARTING_TIMESTAMP, time.toString());
    } else {
      long number = first
          .moment()
          .version()
          .orElseGet(() -> RecordTable.at(last().storage())
              .tagged(first.moment().tag().orElseThrow())
              .version());
      options.put(ZRecordOptions.STARTING_VERSION, Long.toString(number + exclusive));
    }
  }

  /** Refuses what a stream cannot do. Spark says that there is a stream when the scan is built. */
  private void requireOfStream() {
    if (isNet(context)) {
      throw Unsupported.operation(
          "a stream of the net changes of " + table.name() + ", which has no end",
          "leave deduplicationMode out, or read a range by spark.read");
    }
    if (bounds(context).flatMap(ChangesBounds::last).isPresent()) {
      throw Unsupported.operation(
          "a stream of the changes of " + table.name() + " up to a last one",
          "leave endingVersion and endingTimestamp out, and use Trigger.AvailableNow, or read a"
              + " range by spark.read");
    }
  }
}
