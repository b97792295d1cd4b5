package io.zrecord.table;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.changes.RecordChanges;
import io.zrecord.changes.TableChanges;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.read.FieldReader;
import io.zrecord.read.IndexSet;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.storage.Storage;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Changes that follow their records, in each way in which commits come one after the other, on
 * tables of each layout. Storages extend this.
 */
public abstract class CarriedLayouts {
  private Storage storage;
  private RecordTable table;
  private CarriedLayout layout;

  /** The values of the newest version, by the numbers of the records, in their order. */
  private final TreeMap<Long, String> records = new TreeMap<>();

  private final TreeMap<Long, String> first = new TreeMap<>();
  private final Set<Long> updated = new TreeSet<>();

  /** Returns a storage without files. */
  protected abstract Storage emptyStorage() throws IOException;

  @BeforeEach
  void open() throws IOException {
    storage = emptyStorage();
    table = RecordTable.at(storage);
  }

  /** A way in which commits come one after the other. */
  enum Way {
    CHANGE_AFTER_CHANGE {
      @Override
      void run(CarriedLayouts test) {
        Planned late = test.planned().delete(4, 61).update(6, 70).clear(9);
        Planned same = test.planned().update(3, 1);
        test.planned().delete(3).update(5, 8).commit();
        late.carry();
        same.conflicts();
      }
    },
    CHANGE_AFTER_REBALANCE {
      @Override
      void run(CarriedLayouts test) {
        Planned late =
            test.planned().delete(3, 47).update(31, 70).update(64, 71).clear(2);
        test.rebalance();
        late.carry();
      }
    },
    REBALANCE_AFTER_CHANGE {
      @Override
      void run(CarriedLayouts test) {
        RebalancePlan plan = test.plan();
        test.planned().delete(3, 47).update(31, 70).clear(64).commit();
        test.planned().delete(4).update(31, 71).commit();
        test.carry(plan);
      }
    },
    CHANGE_AFTER_REBALANCE_THAT_CARRIED {
      @Override
      void run(CarriedLayouts test) {
        Planned late = test.planned().delete(0).update(33, 70).clear(5);
        Planned same = test.planned().update(47, 1);
        RebalancePlan plan = test.plan();
        test.planned().delete(3, 47).update(31, 70).commit();
        test.carry(plan);
        late.carry();
        same.conflicts();
      }
    },
    CHANGE_AFTER_SEVERAL {
      @Override
      void run(CarriedLayouts test) {
        Planned late = test.planned().delete(0, 79).update(40, 71).update(41, 72);
        test.rebalance();
        test.planned().delete(1, 39).update(42, 9).commit();
        test.rebalance();
        test.planned().update(43, 10).delete(10).commit();
        late.carry();
      }
    };

    abstract void run(CarriedLayouts test);
  }

  static Stream<Arguments> cases() {
    return Arrays.stream(CarriedLayout.values())
        .flatMap(layout -> Arrays.stream(Way.values()).map(way -> Arguments.of(layout, way)));
  }

  @ParameterizedTest(name = "{0}, {1}")
  @MethodSource("cases")
  void changesTakeEffectUnlessTheyTouchTheSameRecord(CarriedLayout of, Way way) {
    layout = of;
    of.create(storage);
    TableSnapshot base = table.latest();
    read(base).forEach(records::put);
    assertThat(records).hasSize(CarriedLayout.RECORDS);
    first.putAll(records);
    way.run(this);
    assertThat(read(table.latest())).isEqualTo(records);
    assertThat(read(table.version(base.version()))).isEqualTo(first);
    if (of.isCarried()) {
      requireTold(base.version());
    }
    List<String> problems = new ArrayList<>();
    DatasetCheck.of(storage)
        .allVersions()
        .run(finding -> problems.add(finding.file() + ": " + finding.problem()));
    assertThat(problems).isEmpty();
  }

  /** Requires that the versions say what they changed, whatever was carried. */
  private void requireTold(long base) {
    RecordChanges told =
        TableChanges.of(storage).net(base, table.latest().version()).records();
    List<Long> numbers = List.copyOf(first.keySet());
    assertThat(told.inserted()).isEqualTo(IndexSet.empty());
    assertThat(told.deleted())
        .isEqualTo(IndexSet.of(LongStream.range(0, numbers.size())
            .filter(i -> !records.containsKey(numbers.get((int) i)))
            .toArray()));
    assertThat(told.changedBefore())
        .isEqualTo(IndexSet.of(updated.stream().mapToLong(numbers::indexOf).toArray()));
  }

  private Map<Long, String> read(TableSnapshot version) {
    Map<Long, String> values = new TreeMap<>();
    try (RecordDataset dataset =
        RecordDataset.open(version, RecordDataset.ReadOptions.defaults())) {
      int length = (int) dataset.length();
      long[] all = LongStream.range(0, length).toArray();
      FieldReader numbers = dataset.reader("number");
      FieldReader texts = dataset.reader("value");
      numbers.select(all, 0, length);
      texts.select(all, 0, length);
      long last = -1;
      for (int i = 0; i < length; i++) {
        long number =
            ByteBuffer.wrap(numbers.value(i)).order(ByteOrder.LITTLE_ENDIAN).getLong();
        assertThat(number).as("order").isGreaterThan(last);
        last = number;
        values.put(number, texts.isAbsent(i) ? "absent" : new String(texts.value(i), ISO_8859_1));
      }
    }
    return values;
  }

  private Planned planned() {
    return new Planned();
  }

  private RebalancePlan plan() {
    return RebalancePlan.of(
        table.latest(), RebalanceOptions.defaults().withAllShards().withWrite(CarriedLayout.WRITE));
  }

  private void rebalance() {
    run(plan());
  }

  private void run(RebalancePlan plan) {
    assertThat(plan.groups()).isNotEmpty();
    assertThat(TableRebalance.of(plan).threads(1).run().failures()).isEmpty();
    assertThat(read(table.latest())).isEqualTo(records);
  }

  /** Runs a rebalance that has to carry what was changed since, or is refused. */
  private void carry(RebalancePlan plan) {
    if (layout.isCarried()) {
      run(plan);
    } else {
      assertThat(TableRebalance.of(plan).threads(1).run().failures()).isNotEmpty();
      assertThat(read(table.latest())).isEqualTo(records);
    }
  }

  /** A change of records that was planned on the newest version. */
  private final class Planned {
    private final List<Long> numbers = List.copyOf(records.keySet());
    private final RowChange change = RowChange.of(table.latest());
    private final Set<Long> deleted = new TreeSet<>();
    private final Map<Long, String> values = new TreeMap<>();

    Planned delete(long... some) {
      for (long number : some) {
        change.delete(numbers.indexOf(number));
        deleted.add(number);
      }
      return this;
    }

    /** Gives a record the value with which the record of another number was written. */
    Planned update(long number, int as) {
      change.update(numbers.indexOf(number), "value", layout.value(as));
      values.put(number, Objects.requireNonNull(first.get((long) as)));
      return this;
    }

    Planned clear(long number) {
      change.update(numbers.indexOf(number), "value", null);
      values.put(number, "absent");
      return this;
    }

    void commit() {
      change.commit();
      records.keySet().removeAll(deleted);
      records.putAll(values);
      updated.addAll(values.keySet());
      updated.removeAll(deleted);
      assertThat(read(table.latest())).isEqualTo(records);
    }

    /** Commits a change that has to follow its records, or is refused. */
    void carry() {
      if (layout.isCarried()) {
        commit();
      } else {
        conflicts();
      }
    }

    void conflicts() {
      assertThatThrownBy(change::commit).isInstanceOf(CommitConflictException.class);
    }
  }
}
