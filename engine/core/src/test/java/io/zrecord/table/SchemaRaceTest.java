package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDataset;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.read.FieldReader;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.schema.Compression;
import io.zrecord.schema.Constraint;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.table.Interleavings.Work;
import io.zrecord.testing.MemoryStorage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** A change of fields and declarations beside other commits, in every order of their calls. */
final class SchemaRaceTest {
  private static final Constraint POSITIVE = Constraint.check("positive", "value >= 0", List.of(1));
  private static final RebalanceOptions JOIN_ALL = RebalanceOptions.defaults()
      .withShardBytes(1 << 20, 1 << 20)
      .withWrite(WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE));

  /** A table of two shards, and what others have done to it. */
  private static final class World implements Interleavings.World {
    final MemoryStorage storage = new MemoryStorage();
    int changed;
    int declared;
    int appended;
    int rebalanced;
    int refused;

    World() {
      RecordTable.at(storage)
          .commit(Shards.append(
              OptionalLong.empty(),
              Shards.write(storage, Shards.SCHEMA, 1, 2),
              Shards.write(storage, Shards.SCHEMA, 3)));
    }

    @Override
    public Storage storage() {
      return storage;
    }

    @Override
    public Storage seen(Storage ordered) {
      return new WithoutHint(ordered);
    }

    TableSnapshot latest() {
      return RecordTable.at(storage).latest();
    }

    /** Each record has the values of its fields, whatever their names and places. */
    @Override
    public void check() {
      TableSnapshot latest = latest();
      assertThat(latest.version()).isEqualTo(changed + declared + appended + rebalanced);
      assertThat(latest.length()).isEqualTo(3 + appended);
      try (RecordDataset dataset =
          RecordDataset.open(latest, RecordDataset.ReadOptions.defaults())) {
        for (FieldSpec field : latest.schema().fields()) {
          FieldReader reader = dataset.reader(field.name());
          for (int i = 0; i < latest.length(); i++) {
            reader.select(new long[] {i}, 0, 1);
            assertThat(ByteBuffer.wrap(reader.value(0))
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .getLong())
                .isEqualTo(field.id() == 1 ? i + 1 : 77);
          }
        }
      }
    }

    List<String> names() {
      return latest().schema().fields().stream().map(FieldSpec::name).toList();
    }
  }

  private static FieldSpec added(String name, FieldRules rules) {
    return new FieldSpec(1, name, ElementType.I64, Shape.scalar(), Compression.RAW)
        .withRules(rules.withInitial(new byte[] {77, 0, 0, 0, 0, 0, 0, 0}));
  }

  /** Renames the field, and adds another of its name before it. */
  private static void replace(SchemaChange change) {
    change.rename("value", "old").add(added("value", FieldRules.NONE), FieldPlace.first());
  }

  private static Work<World> change(Consumer<SchemaChange> edits) {
    return (world, storage) -> {
      try {
        SchemaChange change = SchemaChange.of(RecordTable.at(storage).latest());
        edits.accept(change);
        change.commit();
        world.changed++;
      } catch (CommitConflictException | SchemaMismatchException e) {
        world.refused++;
      }
    };
  }

  private static Work<World> declare(Consumer<DeclarationChange> edits) {
    return (world, storage) -> {
      try {
        DeclarationChange change = DeclarationChange.of(RecordTable.at(storage).latest());
        edits.accept(change);
        change.commit();
        world.declared++;
      } catch (CommitConflictException e) {
        world.refused++;
      }
    };
  }

  private static void append(World world, Storage storage) {
    RecordTable table = RecordTable.at(storage);
    OptionalLong base = OptionalLong.of(table.latest().version());
    try {
      table.commit(Shards.change(
          TableChange.Kind.APPEND,
          base,
          Shards.SCHEMA,
          List.of(Shards.write(storage, Shards.SCHEMA, 4))));
      world.appended++;
    } catch (SchemaMismatchException e) {
      world.refused++;
    }
  }

  private static void rebalance(World world, Storage storage) {
    var result = TableRebalance.of(RebalancePlan.of(RecordTable.at(storage).latest(), JOIN_ALL))
        .threads(1)
        .run();
    world.rebalanced += result.groups();
    world.refused += result.failures().size();
  }

  private static List<World> run(List<Work<World>> work) throws Exception {
    List<World> worlds = Interleavings.ended(World::new, work);
    assertThat(worlds).isNotEmpty();
    return worlds;
  }

  @Test
  void aChangeAndAnAppendBothSucceed() throws Exception {
    List<World> worlds = run(List.of(change(SchemaRaceTest::replace), SchemaRaceTest::append));
    assertThat(worlds).allMatch(world -> world.changed == 1 && world.appended == 1);
    assertThat(worlds)
        .allSatisfy(world -> assertThat(world.names()).containsExactly("value", "old"));
  }

  /** Records that were written before the field was there need no value of the expression. */
  @Test
  void anAppendFollowsAFieldWhoseDefaultItCouldNotKnow() throws Exception {
    FieldSpec field = added("when", FieldRules.NONE.withDefaultSql("now()"));
    List<World> worlds =
        run(List.of(change(c -> c.add(field, FieldPlace.first())), SchemaRaceTest::append));
    assertThat(worlds).allMatch(world -> world.changed == 1 && world.appended + world.refused == 1);
    assertThat(worlds)
        .anyMatch(world -> world.refused == 1)
        .anyMatch(world -> world.latest().operation().equals("addFields"))
        .anyMatch(world -> world.latest().operation().equals("append"));
  }

  @Test
  void aChangeAndARebalanceBothSucceed() throws Exception {
    List<World> worlds = run(List.of(change(SchemaRaceTest::replace), SchemaRaceTest::rebalance));
    assertThat(worlds).allMatch(world -> world.changed == 1 && world.rebalanced == 1);
    assertThat(worlds).allMatch(world -> world.latest().shards().size() == 1);
  }

  @Test
  void ofTwoChangesOfAFieldOneIsRefused() throws Exception {
    List<World> worlds =
        run(List.of(change(SchemaRaceTest::replace), change(SchemaRaceTest::replace)));
    assertThat(worlds).allMatch(world -> world.changed == 1 && world.refused == 1);
    assertThat(worlds).allMatch(world -> world.names().equals(List.of("value", "old")));
  }

  @Test
  void ofTwoChangesOfOtherFieldsOneIsRefusedUnlessItComesLater() throws Exception {
    List<World> worlds = run(List.of(
        change(one -> one.add(added("one", FieldRules.NONE), FieldPlace.first())),
        change(other -> other.rename("value", "v"))));
    assertThat(worlds).allMatch(world -> world.changed + world.refused == 2);
    assertThat(worlds)
        .anyMatch(world -> world.names().equals(List.of("one", "value")))
        .anyMatch(world -> world.names().equals(List.of("v")))
        .anyMatch(world -> world.names().equals(List.of("one", "v")));
  }

  @Test
  void declarationsOfOtherKeysAreBothKept() throws Exception {
    List<World> worlds = run(List.of(
        change(one -> {
          replace(one);
          one.declare(declarations -> declarations.set("a", "1"));
        }),
        declare(other -> other.set("b", "2"))));
    assertThat(worlds).allMatch(world -> world.changed == 1 && world.declared == 1);
    assertThat(worlds)
        .allSatisfy(world ->
            assertThat(world.latest().declarations().properties()).containsOnlyKeys("a", "b"));
  }

  @Test
  void ofTwoDeclarationsOfAKeyOneIsRefusedUnlessItComesLater() throws Exception {
    List<World> worlds = run(List.of(
        change(one -> {
          replace(one);
          one.declare(declarations -> declarations.set("a", "1"));
        }),
        declare(other -> other.set("a", "2"))));
    assertThat(worlds).allMatch(world -> world.changed + world.declared + world.refused == 2);
    assertThat(worlds)
        .allSatisfy(world -> assertThat(world.names())
            .isEqualTo(world.changed == 1 ? List.of("value", "old") : List.of("value")));
    assertThat(worlds)
        .anyMatch(world -> world.changed == 0)
        .anyMatch(world -> world.declared == 0)
        .anyMatch(world -> world.refused == 0);
  }

  @Test
  void aCheckReadsItsFieldByTheNameThatTheFieldHas() throws Exception {
    List<World> worlds = run(List.of(change(SchemaRaceTest::replace), (world, storage) -> {
      TableSnapshot base = RecordTable.at(storage).latest();
      String name = base.schema().find(1).orElseThrow().name();
      try {
        DeclarationChange.of(base)
            .add(Constraint.check("positive", name + " >= 0", List.of(1)).notEnforced())
            .commit();
        world.declared++;
      } catch (CommitConflictException e) {
        world.refused++;
      }
    }));
    assertThat(worlds).allMatch(world -> world.changed + world.declared + world.refused == 2);
    assertThat(worlds)
        .filteredOn(world -> world.declared == 1)
        .allSatisfy(world -> assertThat(world
                .latest()
                .declarations()
                .constraint("positive")
                .orElseThrow()
                .sql())
            .isEqualTo(world.latest().schema().find(1).orElseThrow().name() + " >= 0"));
    assertThat(worlds)
        .anyMatch(world -> world.changed == 0)
        .anyMatch(world -> world.declared == 0)
        .anyMatch(world -> world.refused == 0);
  }

  /** An append after the check is refused; a check that was planned before the append is. */
  @Test
  void noRecordComesBesideACheckThatNobodyEvaluated() throws Exception {
    List<World> worlds = run(List.of(
        change(one -> {
          one.add(added("one", FieldRules.NONE), FieldPlace.first());
          one.declare(declarations -> declarations.add(POSITIVE));
        }),
        SchemaRaceTest::append));
    assertThat(worlds).allMatch(world -> world.changed + world.appended + world.refused == 2);
    assertThat(worlds)
        .filteredOn(world -> world.changed == 1 && world.appended == 1)
        .allMatch(world -> world.latest().operation().equals("addFields"));
    assertThat(worlds)
        .anyMatch(world -> world.changed == 1 && world.appended == 0)
        .anyMatch(world -> world.changed == 0 && world.appended == 1)
        .anyMatch(world -> world.changed == 1 && world.appended == 1);
  }
}
