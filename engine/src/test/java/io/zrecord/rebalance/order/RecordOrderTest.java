package io.zrecord.rebalance.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.ShardWriter;
import io.zrecord.testing.Budget;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The order of values of every type, beside that of a stable sort of the JDK with a comparator of
 * its own.
 */
class RecordOrderTest {
  private static final int RECORDS = 3_000;

  @TempDir
  Path directory;

  static Stream<ElementType> types() {
    Stream<ElementType> plain = Stream.of(ElementType.Kind.values())
        .filter(kind -> kind != ElementType.Kind.DECIMAL && kind != ElementType.Kind.NESTED)
        .map(ElementType::of);
    return Stream.concat(
        plain,
        Stream.of(
            ElementType.decimal(9, 2), ElementType.decimal(18, 2), ElementType.decimal(38, 2)));
  }

  @ParameterizedTest
  @MethodSource("types")
  void everyTypeHasItsOrderAndItIsStable(ElementType type) {
    Random random = Budget.random();
    List<byte @Nullable []> values = new ArrayList<>();
    for (int i = 0; i < RECORDS; i++) {
      // Some absent, some again: equal values must keep their order.
      values.add(
          random.nextInt(20) == 0
              ? null
              : i > 0 && random.nextInt(3) == 0
                  ? values.get(random.nextInt(i))
                  : value(type, random));
    }
    try (RecordDataset dataset = write(type, values)) {
      for (Direction direction : Direction.values()) {
        Arrangement found = RecordOrder.by("key", direction).arrange(dataset);
        List<Integer> expected = expected(type, direction, values);
        long[] olds = new long[RECORDS];
        found.oldIndices(0, olds, RECORDS);
        assertThat(olds)
            .as(type + " " + direction)
            .containsExactly(expected.stream().mapToLong(i -> i).toArray());
        long[] news = new long[RECORDS];
        found.newIndices(0, news, RECORDS);
        for (int i = 0; i < RECORDS; i++) {
          assertThat(news[(int) olds[i]]).isEqualTo(i);
        }
      }
    }
  }

  private static List<Integer> expected(
      ElementType type, Direction direction, List<byte @Nullable []> values) {
    Comparator<byte[]> comparator = (a, b) -> compare(type, a, b);
    if (direction == Direction.DESCENDING) {
      comparator = comparator.reversed();
    }
    Comparator<byte[]> whole = Comparator.<byte[]>comparingInt(value -> isNan(type, value) ? 1 : 0)
        .thenComparing(comparator);
    return IntStream.range(0, values.size())
        .boxed()
        .sorted(Comparator.comparing((Integer i) -> values.get(i), Comparator.nullsLast(whole)))
        .toList();
  }

  private static ByteBuffer little(byte[] value) {
    return ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static double floating(ElementType type, byte[] value) {
    return switch (type.kind()) {
      case BF16 -> Float.intBitsToFloat(little(value).getShort() << 16);
      case F16 -> half(little(value).getShort());
      case F32 -> little(value).getFloat();
      default -> little(value).getDouble();
    };
  }

  private static double half(short bits) {
    int exponent = (bits >> 10) & 0x1f;
    int fraction = bits & 0x3ff;
    double magnitude = exponent == 31
        ? (fraction == 0 ? Double.POSITIVE_INFINITY : Double.NaN)
        : exponent == 0 ? fraction * 0x1p-24 : (1024 + fraction) * Math.scalb(1.0, exponent - 25);
    return bits < 0 ? -magnitude : magnitude;
  }

  private static boolean isFloating(ElementType type) {
    return switch (type.kind()) {
      case F16, BF16, F32, F64 -> true;
      default -> false;
    };
  }

  private static boolean isNan(ElementType type, byte[] value) {
    return isFloating(type) && Double.isNaN(floating(type, value));
  }

  private static int compare(ElementType type, byte[] a, byte[] b) {
    if (isFloating(type)) {
      double x = floating(type, a);
      double y = floating(type, b);
      return x < y ? -1 : x > y ? 1 : 0;
    }
    return switch (type.kind()) {
      case BYTES, UTF8 -> Arrays.compareUnsigned(a, b);
      case BOOL, U8, U16, U32, U64 -> integer(a, 1).compareTo(integer(b, 1));
      default -> integer(a, 0).compareTo(integer(b, 0));
    };
  }

  private static BigInteger integer(byte[] little, int zeros) {
    byte[] big = new byte[little.length + zeros];
    for (int i = 0; i < little.length; i++) {
      big[big.length - 1 - i] = little[i];
    }
    return new BigInteger(big);
  }

  private static byte[] value(ElementType type, Random random) {
    if (type.widthBytes().isEmpty()) {
      // Few different bytes, so that many share a beginning, and zeros that padding could hide.
      byte[] value = new byte[random.nextInt(30)];
      for (int i = 0; i < value.length; i++) {
        value[i] = (byte)
            (type.equals(ElementType.UTF8) ? random.nextInt(2) * 'a' : random.nextInt(3) * 0x7f);
      }
      return value;
    }
    byte[] value = new byte[type.widthBytes().getAsInt()];
    random.nextBytes(value);
    if (type.equals(ElementType.BOOL)) {
      value[0] &= 1;
    } else if (random.nextInt(10) == 0) {
      // −0, infinities and the like, the least and the greatest.
      Arrays.fill(value, (byte) (random.nextBoolean() ? 0 : 0xff));
      value[value.length - 1] = (byte) (random.nextBoolean() ? 0x7f : 0x80);
      if (value.length > 1) {
        value[value.length - 2] = (byte) new int[] {0, 0x80, 0xf0, 0x7c}[random.nextInt(4)];
      }
    }
    return value;
  }

  private RecordDataset write(ElementType type, List<byte @Nullable []> values) {
    Storage storage = LocalStorage.at(directory.resolve(UUID.randomUUID().toString()));
    RecordSchema schema = RecordSchema.builder()
        .field("key", type, Shape.scalar(), Compression.RAW)
        .build();
    WriteOptions options =
        WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE);
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), schema, options)) {
      for (byte[] value : values) {
        if (value != null) {
          writer.put(0, value, 0, value.length);
        }
        writer.endRecord();
      }
      ShardSummary shard = writer.finish().orElseThrow();
      return RecordDataset.openShard(storage, schema, shard, RecordDataset.ReadOptions.defaults());
    }
  }

  @ParameterizedTest
  @EnumSource
  void aFieldWithoutAnyValueKeepsTheOrder(Direction direction) {
    try (RecordDataset dataset = write(ElementType.UTF8, Collections.nCopies(5, (byte[]) null))) {
      long[] olds = new long[5];
      RecordOrder.by("key", direction).arrange(dataset).oldIndices(0, olds, 5);
      assertThat(olds).containsExactly(0, 1, 2, 3, 4);
    }
  }

  @Test
  void aTextThatIsTooLongIsNamed() {
    List<byte @Nullable []> values = new ArrayList<>(Collections.nCopies(9, new byte[1024]));
    values.add(new byte[1025]);
    try (RecordDataset dataset = write(ElementType.BYTES, values)) {
      assertThatThrownBy(() -> RecordOrder.by("key", Direction.ASCENDING).arrange(dataset))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("record 9")
          .hasMessageContaining("1025 bytes")
          .hasMessageContaining("1024");
    }
  }
}
