package io.zrecord.spark.stream;

import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.spark.changes.ChangeTasks;
import io.zrecord.spark.options.StreamReadConf;
import io.zrecord.spark.options.TimeTravel;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.scan.IndexOrder;
import io.zrecord.spark.scan.ReadSettings;
import io.zrecord.spark.scan.SizedStream;
import io.zrecord.spark.stream.StreamPosition.Place;
import io.zrecord.table.TableSnapshot;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.jspecify.annotations.Nullable;

/**
 * A table as the source of a stream: the records that the table has at first, and those that later
 * versions added, or all that later versions changed. Versions that change no record, as a
 * rebalance, deliver nothing. A batch never has a record or a change twice, and the batches of a
 * stream have each once. Lives on the driver.
 */
public final class TableStream implements SizedStream, SupportsTriggerAvailableNow {
  private final String location;
  private final TableSnapshot opened;
  private final ReadSettings settings;
  private final StreamReadConf conf;
  private final StreamHistory history;
  private final StreamFields fields;
  private final Optional<RuntimeException> problem;

  /** The last version of a stream that ends; null if the stream goes on. */
  private volatile @Nullable TableSnapshot last;

  /** The newest version that was seen, for reports of progress. */
  private volatile TableSnapshot seen;

  /** The batch that was planned last, so that its versions need not be looked at again. */
  private volatile @Nullable Planned planned;

  /** A batch, from one position to another. */
  private record Planned(StreamPosition start, StreamPosition end, BatchTasks tasks) {}

  /**
   * Where the next record is.
   *
   * @param version number of the version
   * @param place whether records are counted of all or of the added ones
   * @param delivered how many of them were delivered
   */
  private record Spot(long version, Place place, long delivered) {
    static Spot beginOf(long version) {
      return new Spot(version, Place.ADDED, 0);
    }

    static Spot after(StreamPosition position) {
      return position.place() == Place.END
          ? beginOf(position.number() + 1)
          : new Spot(position.number(), position.place(), position.records());
    }
  }

  /**
   * Opens a stream.
   *
   * @param opened the version whose fields the stream has
   * @param problem why no stream can begin; one that goes on from a checkpoint can
   */
  public TableStream(
      String location,
      TableSnapshot opened,
      ReadSettings settings,
      StreamReadConf conf,
      Optional<RuntimeException> problem) {
    this.location = location;
    this.opened = opened;
    this.seen = opened;
    this.settings = settings;
    this.conf = conf;
    this.problem = problem;
    this.fields = new StreamFields(
        location,
        opened,
        conf.readsChanges()
            ? ChangeTasks.fields(opened, settings.columns())
            : IndexOrder.fields(opened, settings.columns()),
        conf.readsChanges());
    this.history = new StreamHistory(location, opened, fields, conf);
  }

  @Override
  public Offset initialOffset() {
    return StreamPosition.BEGINNING;
  }

  @Override
  public Offset deserializeOffset(String json) {
    return StreamPosition.parse(location, json);
  }

  @Override
  public ReadLimit getDefaultReadLimit() {
    TriggerLimits limits = TriggerLimits.of(conf);
    return limits.equals(TriggerLimits.NONE) ? ReadLimit.allAvailable() : limits;
  }

  @Override
  public void prepareForTriggerAvailableNow() {
    last = SparkErrors.planned(history::newest);
  }

  @Override
  public @Nullable Offset latestOffset() {
    return latestOffset(initialOffset(), ReadLimit.allAvailable());
  }

  @Override
  public Offset reportLatestOffset() {
    return marked(StreamPosition.after(VersionRecords.all(seen).id()));
  }

  /** Returns a position as one of this stream. */
  private StreamPosition marked(StreamPosition position) {
    return conf.readsChanges() ? position.ofChanges() : position;
  }

  /** Returns where the next batch ends; null if there is nothing with which the stream begins. */
  @Override
  public @Nullable Offset latestOffset(Offset start, ReadLimit limit) {
    StreamPosition from = (StreamPosition) start;
    TriggerLimits limits = limit instanceof TriggerLimits own ? own : TriggerLimits.NONE;
    planned = null;
    Planned batch = SparkErrors.planned(() -> {
      BatchTasks tasks = tasks();
      return new Planned(from, marked(next(from, limits, tasks)), tasks);
    });
    planned = batch;
    return batch.end().isBeginning() ? null : batch.end();
  }

  /** Returns the end of a batch, with what is needed to read the batch again. */
  private static StreamPosition ended(StreamPosition start, Spot begin, StreamPosition end) {
    return start.isBeginning() && !end.isBeginning() && begin.place() == Place.ADDED
        ? end.begunWith(begin.version())
        : end;
  }

  private BatchTasks tasks() {
    return conf.readsChanges()
        ? new ChangedTasks(opened, settings)
        : new StreamTasks(fields.schema().fields());
  }

  /**
   * Returns the position after the next batch.
   *
   * @param tasks gets what is delivered
   */
  private StreamPosition next(StreamPosition start, TriggerLimits limits, BatchTasks tasks) {
    TableSnapshot newest = history.newest();
    seen = newest;
    require(start, newest);
    TableSnapshot bound = last == null ? newest : last;
    if (start.isBeginning()) {
      problem.ifPresent(reason -> {
        throw reason;
      });
    }
    if (start.isBeginning() && conf.startsWithNew()) {
      return ended(
          start,
          Spot.beginOf(bound.version() + 1),
          StreamPosition.after(VersionRecords.all(bound).id()));
    }
    BatchBudget budget = new BatchBudget(limits, fields.schema().fields());
    Spot begin = start.isBeginning() ? first(bound) : Spot.after(start);
    Spot spot = begin;
    StreamPosition end = start;
    while (spot.version() <= bound.version() && !budget.isSpent()) {
      VersionRecords records;
      try {
        records = records(spot, newest);
      } catch (RuntimeException e) {
        if (end.equals(start)) {
          throw e;
        }
        // What came before is delivered first.
        return ended(start, begin, end);
      }
      long taken = budget.take(records, spot.delivered());
      long delivered = spot.delivered() + taken;
      tasks.add(records, spot.delivered(), delivered);
      if (delivered < records.count()) {
        return ended(start, begin, taken == 0 ? end : records.position(delivered));
      }
      end = records.position(delivered);
      if (start.isBeginning() && records.place() == Place.ALL) {
        // The first position says by its version where the stream has begun.
        return end;
      }
      spot = Spot.beginOf(spot.version() + 1);
    }
    return ended(start, begin, end);
  }

  private void require(StreamPosition position, TableSnapshot newest) {
    if (!position.isBeginning()) {
      history.requireThere(position, newest);
    }
  }

  /** Returns where the stream begins, as its options say. */
  private Spot first(TableSnapshot newest) {
    if (conf.startingVersion().isPresent()) {
      long version = conf.startingVersion().getAsLong();
      if (version > newest.version() + 1) {
        throw new VersionNotFoundException(
            location,
            "Cannot start a stream of " + location + " with version " + version
                + ": the newest version is " + newest.version() + "; give the next version, that or"
                + " an earlier one, or '" + TimeTravel.NEWEST + "' for what comes later");
      }
      history.requireStart(version, newest);
      return Spot.beginOf(version);
    }
    return conf.startingTime()
        .map(time -> Spot.beginOf(history.firstSince(time, newest)))
        .orElseGet(() -> new Spot(newest.version(), Place.ALL, 0));
  }

  /** Returns where a stream has begun whose first batch ends at a position. */
  private static Spot first(StreamPosition end) {
    return end.first().isPresent()
        ? Spot.beginOf(end.first().getAsLong())
        : new Spot(end.number(), Place.ALL, 0);
  }

  private VersionRecords records(Spot spot, TableSnapshot newest) {
    return spot.place() == Place.ALL
        ? history.all(spot.version(), newest)
        : history.added(spot.version(), newest);
  }

  @Override
  public InputPartition[] planInputPartitions(Offset start, Offset end) {
    return SparkErrors.planned(() -> {
      Planned known = planned;
      Planned batch =
          known != null && known.start().equals(start) && known.end().equals(end)
              ? known
              : plan((StreamPosition) start, (StreamPosition) end);
      planned = batch;
      return batch.tasks().divide();
    });
  }

  /** Plans a batch whose end was found before the stream was opened. */
  private Planned plan(StreamPosition start, StreamPosition end) {
    TableSnapshot newest = history.newest();
    require(start, newest);
    require(end, newest);
    BatchTasks tasks = tasks();
    Spot spot = start.isBeginning() ? first(end) : Spot.after(start);
    while (spot.version() <= end.number()) {
      VersionRecords records = records(spot, newest);
      boolean isPart = spot.version() == end.number() && end.place() != Place.END;
      long last = isPart ? end.records() : records.count();
      if (spot.delivered() > last || last > records.count()) {
        throw new IllegalStateException("Cannot go on with the stream of " + location
            + ": the checkpoint is at record " + Math.max(spot.delivered(), last) + " of version "
            + spot.version() + ", of which the stream has " + records.count()
            + " records with these options; give those of before");
      }
      tasks.add(records, spot.delivered(), last);
      spot = Spot.beginOf(spot.version() + 1);
    }
    return new Planned(start, end, tasks);
  }

  @Override
  public OptionalLong batchRows() {
    Planned batch = planned;
    return batch == null ? OptionalLong.empty() : batch.tasks().rows();
  }

  @Override
  public OptionalLong batchBytes() {
    Planned batch = planned;
    return batch == null ? OptionalLong.empty() : batch.tasks().bytes();
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return conf.readsChanges()
        ? ChangeTasks.readers(opened, settings)
        : new IndexOrder(List.of(opened)).readers(settings.bare().of(fields.wider()));
  }

  /** Does nothing: the checkpoint keeps the position. */
  @Override
  public void commit(Offset end) {}

  @Override
  public void stop() {}

  /** Returns the name of the source in reports of progress. */
  @Override
  public String toString() {
    return ZRecordOptions.FORMAT + " " + location;
  }
}
