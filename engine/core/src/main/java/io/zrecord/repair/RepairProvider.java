package io.zrecord.repair;

import io.zrecord.MovedRecord;
import io.zrecord.Spi;
import io.zrecord.findings.CheckListener;
import io.zrecord.storage.Storage;
import java.util.function.Consumer;

/**
 * Repairs stores for {@link DatasetRepair}, which repairs tables itself. Implementations are found
 * by {@link java.util.ServiceLoader} and are thread-safe. Programs do not need this type.
 */
@Spi
public interface RepairProvider {

  /**
   * Repairs the store at the root of a storage, as {@link DatasetRepair#run} does.
   *
   * @param onMove see {@link DatasetRepair#onMove}
   * @throws IllegalArgumentException if the storage is not local
   */
  RepairReport repair(
      Storage store,
      DamagedValues treatment,
      Consumer<MovedRecord> onMove,
      CheckListener listener,
      RepairPlan.Approval approval);
}
