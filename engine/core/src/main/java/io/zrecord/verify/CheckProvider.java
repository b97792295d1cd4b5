package io.zrecord.verify;

import io.zrecord.Spi;
import io.zrecord.findings.CheckListener;
import io.zrecord.findings.CheckSummary;
import io.zrecord.storage.Storage;

/**
 * Checks and summarizes stores for {@link DatasetCheck} and {@link DatasetSummary}, which do tables
 * themselves. Implementations are found by {@link java.util.ServiceLoader} and are thread-safe.
 * Programs do not need this type.
 */
@Spi
public interface CheckProvider {

  /**
   * Checks the store at the root of a storage, as {@link DatasetCheck#run} does.
   *
   * @throws IllegalArgumentException if the storage is not local
   */
  CheckSummary check(Storage store, CheckListener listener);

  /**
   * Reads the summary of the store at the root of a storage, as {@link DatasetSummary#of(Storage)}
   * does.
   *
   * @throws IllegalArgumentException if the storage is not local
   */
  DatasetSummary summary(Storage store);
}
