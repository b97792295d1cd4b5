package io.zrecord.spark.catalog;

import io.zrecord.spark.options.ReadConf;
import io.zrecord.spark.options.StreamReadConf;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.path.DatasetVersion;
import io.zrecord.spark.path.Unsupported;
import io.zrecord.spark.scan.ReadSettings;
import io.zrecord.spark.scan.ScanOfStream;
import io.zrecord.spark.scan.SizedStream;
import io.zrecord.spark.stream.TableStream;
import java.util.Optional;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A scan of a table, which is that of a stream if Spark says so.
 *
 * @param location the table, for messages
 * @param version the version that was loaded; empty if there are several datasets
 * @param options of the read
 * @param conf the same, parsed
 * @param isChosen whether somebody chose a version or some records
 */
record TableScan(
    String location,
    Optional<DatasetVersion> version,
    CaseInsensitiveStringMap options,
    ReadConf conf,
    boolean isChosen)
    implements ScanOfStream {
  @Override
  public void requireBatch() {
    conf.requireBatch();
  }

  @Override
  public SizedStream stream(ReadSettings settings) {
    StreamReadConf streamed = StreamReadConf.of(options);
    if (streamed.readsChanges()) {
      throw new IllegalArgumentException("Cannot read " + location + " with the option "
          + ZRecordOptions.READ_CHANGES + "=true here, because Spark has not asked for the columns"
          + " of changes; use load(path), or table(name) in a session with the extension"
          + " io.zrecord.spark.ZRecordSessionExtensions. If spark.datasource.zrecord."
          + ZRecordOptions.READ_CHANGES
          + " was set after the data frame was made, make it again, or"
          + " unset that");
    }
    DatasetVersion loaded = version.orElseThrow(() -> Unsupported.operation(
        "a stream of several datasets", "start a stream for each, and union them"));
    if (loaded.isStore()) {
      throw Unsupported.operation(
          "a stream of " + location + ", which is a store that is written online",
          "append to it once without a stream, which makes a table of it");
    }
    if (isChosen) {
      throw new IllegalArgumentException("Cannot read " + location
          + " as a stream in a session with defaults that choose a version or some records;"
          + " unset them in the session");
    }
    return new TableStream(location, loaded.snapshot(), settings, streamed, Optional.empty());
  }
}
