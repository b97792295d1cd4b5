package io.zrecord.internal.store.repair;

import io.zrecord.MovedRecord;
import io.zrecord.findings.CheckListener;
import io.zrecord.internal.dataset.StoreDirectory;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.ProcessLock;
import io.zrecord.repair.DamagedValues;
import io.zrecord.repair.RepairPlan;
import io.zrecord.repair.RepairProvider;
import io.zrecord.repair.RepairReport;
import io.zrecord.storage.Storage;
import java.nio.file.Path;
import java.util.function.Consumer;

/** Repairs stores. Stateless. */
public final class StoreRepairProvider implements RepairProvider {
  @Override
  public RepairReport repair(
      Storage store,
      DamagedValues treatment,
      Consumer<MovedRecord> onMove,
      CheckListener listener,
      RepairPlan.Approval approval) {
    Path path = StoreDirectory.of(store, "repair");
    ProcessLock lock = ProcessLock.acquire(path);
    try {
      return new StoreRepair(new LocalMutableFiles(path), treatment, onMove)
          .run(listener, approval);
    } finally {
      lock.close();
    }
  }
}
