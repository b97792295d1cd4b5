package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.read.IndexSet;
import io.zrecord.scan.ScanPlan;
import io.zrecord.scan.SplitSizing;
import io.zrecord.testing.Budget;
import io.zrecord.testing.ObjectStorage;
import io.zrecord.verify.DatasetCheck;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The requests that a table of many shards takes on a store of objects. */
final class ManyObjectsTest {
  private static final int SHARDS = Math.max(2_000, Budget.of(20_000));

  private final ObjectStorage objects = new ObjectStorage();

  private int gets() {
    return objects.requests().getOrDefault("get", 0);
  }

  private static List<ScanPlan.Split> plan(
      TableSnapshot snapshot, IndexSet indices, SplitSizing sizing) {
    return ScanPlan.divide(snapshot, Shards.SCHEMA.fields(), indices, sizing);
  }

  @Test
  void planningReadsManifestsAndListsOnly() {
    SimulatedTables.publish(objects, SHARDS, 3);
    long lists = objects.listTree("list").size();
    objects.forgetRequests();
    TableSnapshot snapshot = RecordTable.at(objects).latest();
    assertThat(snapshot.shards()).hasSize(SHARDS);
    assertThat(gets()).as("to open: the hint, the version, the next").isEqualTo(3);

    IndexSet some = IndexSet.range(snapshot.length() / 3, snapshot.length() / 3 + 100_000);
    assertThat(plan(snapshot, some, SplitSizing.atLeast(8))).isNotEmpty();
    assertThat(gets()).as("to plan 100 shards").isLessThanOrEqualTo(8);

    plan(snapshot, IndexSet.range(0, snapshot.length()), SplitSizing.exactly(1000));
    assertThat((long) gets()).as("to plan all: each list once").isLessThanOrEqualTo(3 + lists);
    assertThat(objects.requests().keySet()).as("nothing is listed").containsExactly("get");
  }

  @Test
  void aCheckOfAThousandShardsListsPagesOfThem() {
    RecordTable table = RecordTable.at(objects);
    table.commit(Shards.append(
        Shards.newest(table),
        LongStream.range(0, 1000)
            .mapToObj(value -> Shards.write(objects, Shards.SCHEMA, value))
            .toArray(io.zrecord.shard.ShardSummary[]::new)));
    Shards.write(objects, Shards.SCHEMA, 7);
    objects.forgetRequests();
    List<String> found = new java.util.ArrayList<>();
    DatasetCheck.of(objects)
        .withoutShards(finding -> found.add(finding.toString()), (shard, schema) -> {});
    assertThat(found).hasSize(1).allMatch(finding -> finding.contains("no version names it"));
    assertThat(objects.requests().values().stream().mapToInt(Integer::intValue).sum())
        .as("%s", objects.requests())
        .isLessThanOrEqualTo(25);
  }
}
