package io.zrecord.spark.scan;

/**
 * What a scan is if it is that of a stream. Spark says whether it is one when the scan has been
 * planned.
 */
public interface ScanOfStream {
  /**
   * Requires that the options are not those of streams.
   *
   * @throws IllegalArgumentException if one of them is
   */
  void requireBatch();

  /**
   * Makes the stream of the scan.
   *
   * @param settings the settings of the tasks
   */
  SizedStream stream(ReadSettings settings);
}
