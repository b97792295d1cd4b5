package io.zrecord.spark.rows;

import io.zrecord.read.IndexSet;
import io.zrecord.spark.job.CommitProperties;
import io.zrecord.spark.options.WriteConf;
import io.zrecord.spark.path.Reloads;
import io.zrecord.spark.scan.IndexOrder;
import io.zrecord.spark.scan.PlacePredicates;
import io.zrecord.spark.write.WriteTarget;
import io.zrecord.table.RowChange;
import io.zrecord.table.TableSnapshot;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Deletions of records by their indices, which the driver commits without a task: no value is read,
 * and a shard of which nothing is left is not opened. Stateless.
 */
public final class PlaceDeletion {
  private PlaceDeletion() {}

  /** Returns the indices that meet all conditions; empty if values decide. */
  public static Optional<IndexSet> places(TableSnapshot version, Predicate[] conditions) {
    PlacePredicates evaluator = new PlacePredicates(new IndexOrder(List.of(version)));
    IndexSet places = IndexSet.range(0, version.length());
    for (Predicate condition : conditions) {
      Optional<IndexSet> met = evaluator.evaluate(condition);
      if (met.isEmpty()) {
        return Optional.empty();
      }
      places = places.intersect(met.get());
    }
    return Optional.of(places);
  }

  /**
   * Deletes records of the newest version.
   *
   * @throws io.zrecord.errors.CommitConflictException if another commit has changed one of them
   */
  public static void commit(String location, WriteTarget target, IndexSet places) {
    WriteConf conf = new WriteConf(CaseInsensitiveStringMap.empty());
    TableSnapshot base = RowCommit.base(location, target);
    RowCommit.requireExpected(location, base, conf);
    RowChange change = RowChange.of(base);
    change.delete(places);
    conf.transaction().ifPresent(change::transaction);
    CommitProperties.of(SparkSession.active().sparkContext()).forEach(change::property);
    change.commit();
    Reloads.committed(target.table().storage());
  }
}
