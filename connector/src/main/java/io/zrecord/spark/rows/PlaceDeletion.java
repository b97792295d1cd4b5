package io.zrecord.spark.rows;

import io.zrecord.read.IndexSet;
import io.zrecord.spark.job.CommitProperties;
import io.zrecord.spark.options.WriteConf;
import io.zrecord.spark.path.Reloads;
import io.zrecord.spark.write.WriteTarget;
import io.zrecord.table.RowChange;
import io.zrecord.table.TableSnapshot;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Deletions of records by their indices or partitions, which the driver commits without a task: no
 * value is read, and a shard of which nothing is left is not opened. Stateless.
 */
public final class PlaceDeletion {
  private PlaceDeletion() {}

  /**
   * Deletes records of the newest version.
   *
   * @throws io.zrecord.errors.CommitConflictException if another commit has changed one of them
   */
  public static void commit(String location, WriteTarget target, IndexSet places) {
    WriteConf conf = new WriteConf(CaseInsensitiveStringMap.empty());
    TableSnapshot base = RowCommit.base(location, target);
    RowCommit.requireExpected(target, base, conf);
    RowChange change = RowChange.of(base);
    change.delete(places);
    conf.transaction().ifPresent(change::transaction);
    CommitProperties.of(SparkSession.active().sparkContext()).forEach(change::property);
    change.commit();
    Reloads.committed(target.table().storage());
  }
}
