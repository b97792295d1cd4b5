package io.zrecord.spark.job;

import io.zrecord.findings.CheckSummary;
import io.zrecord.findings.Finding;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.Storage;
import io.zrecord.verify.ShardVerification;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/**
 * The result of checking some shards.
 *
 * @param summary counts of all findings
 * @param findings the first findings; the others are only counted
 * @param unlistedCount number of findings beyond {@link #MAX_LISTED} in their shards, which are
 *     listed nowhere
 */
public record ShardFindings(CheckSummary summary, List<ShardFinding> findings, long unlistedCount)
    implements java.io.Serializable {
  /**
   * Greatest number of a shard's findings that are listed. A task keeps them in memory, at most 50
   * MB.
   */
  public static final int MAX_LISTED = 100_000;

  static final StructType COLUMNS = new StructType()
      .add("shard", DataTypes.StringType, true)
      .add("field", DataTypes.StringType, true)
      .add("index", DataTypes.LongType, true)
      .add("count", DataTypes.LongType, false)
      .add("file", DataTypes.StringType, false)
      .add("offset", DataTypes.LongType, true)
      .add("length", DataTypes.LongType, true)
      .add("kind", DataTypes.StringType, false)
      .add("damage", DataTypes.BooleanType, false)
      .add("reason", DataTypes.StringType, false);

  /**
   * A finding.
   *
   * @param shard the shard concerned; null if the finding is about no shard
   * @param finding the finding itself
   */
  public record ShardFinding(@Nullable String shard, Finding finding)
      implements java.io.Serializable {
    Row row() {
      Finding.Stretch stretch = finding.stretch();
      return RowFactory.create(
          shard,
          finding.field(),
          finding.count() == 0 ? null : finding.firstIndex(),
          finding.count(),
          stretch == null ? finding.file() : stretch.file(),
          stretch == null ? null : stretch.offset(),
          stretch == null ? null : stretch.lengthBytes(),
          finding.kind().name().toLowerCase(Locale.ROOT),
          finding.kind().isDamage(),
          finding.problem());
    }
  }

  /** Checks a shard. Keeps at most {@code most} findings. */
  static ShardFindings of(Storage table, ShardVerification shard, RecordSchema schema, int most) {
    List<ShardFinding> kept = new ArrayList<>();
    String id = shard.shard().id().toString();
    CheckSummary summary = shard.run(table, schema, finding -> {
      if (kept.size() < most) {
        kept.add(new ShardFinding(id, finding));
      }
    });
    long unlisted = summary.damageCount() + summary.noteCount() - MAX_LISTED;
    return new ShardFindings(summary, kept, Math.max(0, unlisted));
  }

  /** Returns the sum of both, with at most {@code most} findings. */
  ShardFindings plus(ShardFindings other, int most) {
    List<ShardFinding> kept = new ArrayList<>(findings);
    kept.addAll(other.findings.subList(0, Math.min(most - kept.size(), other.findings.size())));
    return new ShardFindings(
        summary.plus(other.summary), kept, unlistedCount + other.unlistedCount);
  }
}
