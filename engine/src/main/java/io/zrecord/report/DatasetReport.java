package io.zrecord.report;

import io.zrecord.inspect.DatasetInspection;
import io.zrecord.inspect.DatasetUsage;
import io.zrecord.internal.records.Records;
import io.zrecord.storage.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import io.zrecord.verify.DatasetKind;
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
 * A report on a dataset as one HTML page that needs nothing else: how its chunks are used, as a picture and in numbers, the sizes of
 * chunks, shards and values, the versions of a table and what each changed, and some records. The page holds no script and loads nothing;
 * what stands in the dataset can add neither.
 *
 * <pre>{@code
 * DatasetReport.of(Path.of("/data/train")).records(20).write(Path.of("report.html"));
 * }</pre>
 *
 * <p>Entries are read, of very many those of some shards, and the values of the records that are shown. The page stays small whatever the dataset's size: cells of the
 * picture are joined when there are more than {@value #MAX_CELLS}, and of the fields {@value #MAX_FIELDS} are shown. For one thread.
 */
public final class DatasetReport {
  /** Most cells of the picture of the chunks. */
  static final int MAX_CELLS = 4096;
  /** Most groups of shards in it. */
  static final int MAX_GROUPS = 64;
  /** Most fields shown. */
  static final int MAX_FIELDS = 64;

  private static final int MAX_RECORDS = 1000;

  /** 3.2 GB of entries. */
  private static final long MAX_ENTRIES = 200_000_000;

  private final Path path;
  private int recordCount = 12;
  private long maxImageBytes = 1 << 20;
  private long maxEntries = MAX_ENTRIES;
  private ProgressListener listener = (done, total) -> {};

  /** Is told how far a report is. */
  @FunctionalInterface
  public interface ProgressListener {
    /**
     * Called after each shard.
     *
     * @param doneBytes bytes of the chunks of the shards looked at; their entries were read, not themselves
     * @param totalBytes of all shards
     */
    void progress(long doneBytes, long totalBytes);
  }

  private DatasetReport(Path path) {
    this.path = path;
  }

  /** On a table's newest version, a shard standing alone, or what is committed in a store. */
  public static DatasetReport of(Path path) {
    return new DatasetReport(path);
  }

  /** Records that are shown, 0 to 1,000, from the first to the last at even distances; default 12. */
  public DatasetReport records(int count) {
    if (count < 0 || count > MAX_RECORDS) {
      throw new IllegalArgumentException(
          "records is " + count + "; it must be 0 to " + MAX_RECORDS);
    }
    recordCount = count;
    return this;
  }

  /** Images larger than that many bytes are named only; default 1 MiB. All of a page together have 32 MiB at most. */
  public DatasetReport maxImageBytes(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException("maxImageBytes is " + bytes + "; it must be 0 or more");
    }
    maxImageBytes = bytes;
    return this;
  }

  /**
   * Of a table with more entries some shards are looked at only, at even distances, and the page says so; default 200 million, which is a matter
   * of seconds. To open a shard counts as 10,000 entries, and dense fields have none.
   */
  public DatasetReport maxEntries(long count) {
    if (count < 1) {
      throw new IllegalArgumentException("maxEntries is " + count + "; it must be 1 or more");
    }
    maxEntries = count;
    return this;
  }

  /** Tells how far it is. */
  public DatasetReport onProgress(ProgressListener newListener) {
    listener = newListener;
    return this;
  }

  /**
   * Writes the page; a file that was begun and cannot be finished is removed.
   *
   * @param file must not exist
   * @throws IllegalArgumentException if it exists, or its directory does not
   * @throws io.zrecord.errors.NotADatasetException if there is no dataset
   * @throws io.zrecord.errors.CorruptDataException if metadata or an entry is damaged; a damaged value is shown as such
   * @throws UncheckedIOException if the file cannot be written
   */
  public void write(Path file) {
    // Looked at before the file is made: a dataset that is not there leaves no file.
    DatasetKind kind = DatasetKind.of(path);
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
        ? Optional.of(RecordTable.at(LocalStorage.at(path)).latest())
        : Optional.empty();
    DatasetInspection inspection = snapshot
        .map(DatasetInspection::of)
        .orElseGet(() -> DatasetInspection.of(path))
        .sampled(maxEntries);
    HeatMap map = new HeatMap(MAX_CELLS, MAX_GROUPS);
    ShardProgress progress = new ShardProgress(snapshot, inspection.shardCount(), listener);
    DatasetUsage usage = inspection.run(shard -> {
      map.add(shard);
      progress.add(shard);
    });
    OptionalLong version =
        snapshot.map(found -> OptionalLong.of(found.version())).orElse(OptionalLong.empty());
    ReportPage page = new ReportPage(html, path, kind, snapshot, usage, map);
    try (Records records = Records.open(path, version)) {
      page.write(records, recordCount, maxImageBytes, Instant.now());
    }
  }
}
