package io.zrecord.spark.scan;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.read.IndexSet;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.partition.PartitionValues;
import io.zrecord.testing.Budget;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What conditions on many partitions cost. A join may list as many keys as there are. */
final class PartitionConditionsTest {
  private static final List<FieldSpec> FIELDS =
      RecordSchema.builder().field("p", ElementType.I32).build().fields();

  private final AtomicLong looks = new AtomicLong();

  /** A number that says how often somebody looked at it. */
  private Literal<Integer> counted(@Nullable Integer number) {
    return new Literal<>() {
      @Override
      public @Nullable Integer value() {
        looks.incrementAndGet();
        return number;
      }

      @Override
      public DataType dataType() {
        return DataTypes.IntegerType;
      }
    };
  }

  private Predicate in(Stream<@Nullable Integer> numbers) {
    return new Predicate(
        "IN",
        Stream.concat(Stream.of(Expressions.column("p")), numbers.map(this::counted))
            .toArray(Expression[]::new));
  }

  private static PartitionPlaces.Slice slice(@Nullable Integer partition) {
    return new PartitionPlaces.Slice(
        Collections.singletonList(partition == null ? null : String.valueOf(partition)), 1);
  }

  private static Truth evaluate(List<PartitionPlaces.Slice> slices, Predicate condition) {
    return new PlacePredicates(new PartitionPlaces(FIELDS, slices), new PartitionList.Cache())
        .evaluate(condition);
  }

  @Test
  void aFilterReadsItsListOnceForAllPartitions() {
    int keys = 100;
    PartitionFilter filter =
        new PartitionFilter(FIELDS, List.of(in(IntStream.range(0, keys).boxed())));
    assertThat(filter.test(List.of("0"))).isTrue();
    long looked = looks.get();
    assertThat(looked).isBetween((long) keys, 10L * keys);
    for (int i = 0; i < 1000; i++) {
      assertThat(filter.test(List.of(String.valueOf(i)))).isEqualTo(i < keys);
    }
    assertThat(looks).hasValue(looked);
  }

  @Test
  void aConditionIsAskedOnceForEachValue() {
    int values = 10;
    PartitionPlaces places = new PartitionPlaces(
        FIELDS,
        IntStream.range(0, 100_000)
            .mapToObj(i -> slice(i % values == 0 ? null : i % values))
            .toList());
    AtomicLong asked = new AtomicLong();
    for (int round = 1; round <= 2; round++) {
      Truth truth = places.where("p", value -> {
        asked.incrementAndGet();
        return value == null ? null : PartitionValues.compare(value, BigDecimal.valueOf(3)) == 0;
      });
      assertThat(truth.holds().count()).isEqualTo(10_000);
      assertThat(truth.fails().count()).isEqualTo(80_000);
      assertThat(asked).hasValue((long) round * values);
    }
  }

  /** Ten thousand million comparisons would take longer than the limit of a test's process. */
  @Test
  void aListIsAsLongAsThereArePartitions() {
    int count = 300_000;
    List<PartitionPlaces.Slice> slices =
        IntStream.range(0, count).mapToObj(PartitionConditionsTest::slice).toList();
    Truth truth = evaluate(slices, in(IntStream.range(0, count).map(i -> 2 * i).boxed()));
    assertThat(truth.isExact()).isTrue();
    assertThat(truth.holds().count()).isEqualTo(count / 2);
    assertThat(truth.holds().rangeTo(0)).isEqualTo(1);
    assertThat(truth.fails()).isEqualTo(truth.holds().complement(count));
  }

  @Test
  void aListSelectsWhatSingleComparisonsSelect() {
    Random random = Budget.random();
    for (int round = 0; round < Budget.of(200); round++) {
      List<@Nullable Integer> partitions = numbers(random, 20);
      List<@Nullable Integer> wanted = numbers(random, 5);
      List<PartitionPlaces.Slice> slices =
          partitions.stream().map(PartitionConditionsTest::slice).toList();
      Truth truth = evaluate(slices, in(wanted.stream()));
      IndexSet.Builder holds = new IndexSet.Builder();
      IndexSet.Builder fails = new IndexSet.Builder();
      for (int i = 0; i < partitions.size(); i++) {
        if (partitions.get(i) != null && wanted.contains(partitions.get(i))) {
          holds.add(i, i + 1);
        } else if (partitions.get(i) != null && !wanted.contains(null)) {
          fails.add(i, i + 1);
        }
      }
      assertThat(truth).isEqualTo(new Truth(holds.build(), fails.build(), true));
    }
  }

  private static List<@Nullable Integer> numbers(Random random, int most) {
    @Nullable Integer[] numbers = new Integer[1 + random.nextInt(most)];
    Arrays.setAll(numbers, i -> random.nextInt(8) == 0 ? null : random.nextInt(10));
    return new ArrayList<>(Arrays.asList(numbers));
  }

  @Test
  void aListWithSomethingElseIsNotDecided() {
    Predicate condition = new Predicate("IN", new Expression[] {
      Expressions.column("p"), Expressions.literal(1), Expressions.literal("1")
    });
    Truth truth = evaluate(List.of(slice(1), slice(2)), condition);
    assertThat(truth.isExact()).isFalse();
    assertThat(truth.holds().count()).isEqualTo(2);
    assertThat(PartitionFilter.undecided(FIELDS, List.of(condition))).contains(condition);
  }
}
