package io.zrecord.report;

import io.zrecord.DatasetKind;
import io.zrecord.Datasets;
import io.zrecord.RecordSource;
import io.zrecord.Storages;
import io.zrecord.inspect.DatasetInspection;
import io.zrecord.inspect.DatasetUsage;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Writes a report on a dataset as one self-contained HTML page. The page shows how chunks are used,
 * as a picture and in numbers; the sizes of chunks, shards and values; the versions of a table and
 * their changes; and some records. The page has no script and loads nothing, and the dataset's
 * content can add neither.
 *
 * <pre>{@code
 * DatasetReport.of("/data/train").records(20).write(Path.of("report.html"));
 * }</pre>
 *
 * <p>Reads entries (of a very large dataset, those of some shards) and the values of the shown
 * records. The page stays small whatever the dataset's size: cells of the picture are joined if
 * there are more than {@value #MAX_CELLS}, and at most {@value ReportPage#MAX_FIELDS} fields are
 * shown. For one thread.
 */
public final class DatasetReport {
  /** Greatest number of cells in the picture of the chunks. */
  static final int MAX_CELLS = 4096;
  /** Greatest number of groups of shards in the picture. */
  static final int MAX_GROUPS = 64;

  private static final int MAX_RECORDS = 1000;

  /** Entries that are read by default, which are 3.2 GB. */
  private static final long MAX_ENTRIES = 200_000_000;

  private final Storage storage;
  private int recordCount = 12;
  private long maxImageBytes = 1 << 20;
  private long maxEntries = MAX_ENTRIES;
  private ReportProgress listener = (done, total) -> {};

  private DatasetReport(Storage storage) {
    this.storage = storage;
  }

  /**
   * Returns a report on a table's newest version, or the committed state of a store.
   *
   * @param location a local path, or a URI of a storage on the class path, such as
   *     {@code s3://bucket/train}; see {@link Storages}
   */
  public static DatasetReport of(String location) {
    return of(Storages.at(location));
  }

  /** Returns a report on what is at the root of a storage, as the other method does. */
  public static DatasetReport of(Storage storage) {
    return new DatasetReport(storage);
  }

  /**
   * Sets the number of records that are shown, 0 to 1,000, evenly spaced from the first to the
   * last. The default is 12.
   */
  public DatasetReport records(int count) {
    if (count < 0 || count > MAX_RECORDS) {
      throw new IllegalArgumentException(
          "records is " + count + "; it must be 0 to " + MAX_RECORDS);
    }
    recordCount = count;
    return this;
  }

  /**
   * Sets the size above which images are only named, not shown. The default is 1 MiB. All images of
   * a page have at most 32 MiB.
   */
  public DatasetReport maxImageBytes(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException("maxImageBytes is " + bytes + "; it must be 0 or more");
    }
    maxImageBytes = bytes;
    return this;
  }

  /**
   * Sets the number of entries above which only evenly spaced shards are read, and the page says
   * so. The default is 200 million, which takes seconds. Opening a shard counts as 10,000 entries;
   * dense fields have none.
   */
  public DatasetReport maxEntries(long count) {
    if (count < 1) {
      throw new IllegalArgumentException("maxEntries is " + count + "; it must be 1 or more");
    }
    maxEntries = count;
    return this;
  }

  /** Sets a listener for progress. */
  public DatasetReport onProgress(ReportProgress newListener) {
    listener = newListener;
    return this;
  }

  /**
   * Writes the page. An unfinished file is removed.
   *
   * @param file must not exist
   * @throws IllegalArgumentException if the file exists, or its directory does not
   * @throws io.zrecord.errors.NotADatasetException if there is no dataset
   * @throws io.zrecord.errors.CorruptDataException if metadata or an entry is damaged; a damaged
   *     value is shown as such
   * @throws UncheckedIOException if the file cannot be written
   */
  public void write(Path file) {
    // Opened before the file is created, so that a missing dataset leaves no file.
    DatasetKind kind = DatasetKind.of(storage);
    try (Writer out = Files.newBufferedWriter(
        file, StandardCharsets.UTF_8, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      boolean isWhole = false;
      try {
        write(kind, new Html(out));
        out.flush();
        isWhole = true;
      } finally {
        if (!isWhole) {
          Files.deleteIfExists(file);
        }
      }
    } catch (FileAlreadyExistsException e) {
      throw new IllegalArgumentException(
          "Cannot write the report " + file + ": it exists; remove it or choose another name", e);
    } catch (NoSuchFileException e) {
      throw new IllegalArgumentException(
          "Cannot write the report " + file + ": its directory does not exist; create it first", e);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot write the report " + file + ": " + e.getMessage(), e);
    }
  }

  private void write(DatasetKind kind, Html html) {
    Optional<TableSnapshot> snapshot = kind == DatasetKind.TABLE
        ? Optional.of(RecordTable.at(storage).latest())
        : Optional.empty();
    DatasetInspection inspection = snapshot
        .map(DatasetInspection::of)
        .orElseGet(() -> DatasetInspection.of(storage))
        .sampled(maxEntries);
    HeatMap map = new HeatMap(MAX_CELLS, MAX_GROUPS);
    ShardProgress progress = new ShardProgress(snapshot, inspection.shardCount(), listener);
    DatasetUsage usage = inspection.run(shard -> {
      map.add(shard);
      progress.add(shard);
    });
    OptionalLong version =
        snapshot.map(found -> OptionalLong.of(found.version())).orElse(OptionalLong.empty());
    ReportPage page = new ReportPage(html, storage.location(), kind, snapshot, usage, map);
    try (RecordSource records = Datasets.open(storage, version)) {
      page.write(records, recordCount, maxImageBytes, Instant.now());
    }
  }
}
