package io.zrecord.nested;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.NestedType;
import io.zrecord.schema.Shape;
import io.zrecord.testing.Budget;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NestedValuesTest {
  private static final byte[] NOTHING = new byte[0];

  private static byte[] bytes(NestedType type, Object value) {
    NestedColumn column = new NestedColumn(type);
    RandomNested.put(column, value);
    return column.toBytes(NOTHING);
  }

  /** Returns types and values that no other part and number has. */
  private static RandomNested random(int part, int number) {
    return new RandomNested(Budget.seed() + (long) part * Integer.MAX_VALUE + number);
  }

  private static Object read(NestedType type, byte[] bytes) {
    return new NestedView(type).read("test", ByteBuffer.wrap(bytes)).value(0);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
  void randomValuesOfRandomTypesComeBack(int part) {
    for (int number = Budget.of(60); number > 0; number--) {
      RandomNested random = random(part, number);
      NestedType type = random.root();
      NestedColumn column = new NestedColumn(type);
      NestedView view = new NestedView(type);
      for (int i = 0; i < 4; i++) {
        Object value = random.value(type);
        column.clear();
        RandomNested.put(column, value);
        byte[] bytes = column.toBytes(NOTHING);
        assertThat(bytes.length % 8).isZero();
        assertSame(view.read("test", ByteBuffer.wrap(bytes)).value(0), value);
      }
    }
  }

  private static void assertSame(Object found, Object expected) {
    assertThat(RandomNested.plain(found)).isEqualTo(RandomNested.plain(expected));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void aColumnOfManyValuesHoldsEach(int part) {
    for (int number = Budget.of(25); number > 0; number--) {
      RandomNested random = random(part, number);
      NestedType type = random.root();
      NestedColumn single = new NestedColumn(type);
      NestedColumn batch = new NestedColumn(type);
      NestedColumn direct = new NestedColumn(type);
      NestedView view = new NestedView(type);
      List<Object> values = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        Object value = i % 4 == 3 ? null : random.value(type);
        values.add(value);
        RandomNested.put(direct, value);
        if (value == null) {
          batch.putAbsent();
        } else {
          single.clear();
          RandomNested.put(single, value);
          batch.appendAll(view.read("test", ByteBuffer.wrap(single.toBytes(NOTHING))));
        }
      }
      assertThat(batch.count()).isEqualTo(10);
      assertThat(batch.absentCount()).isEqualTo(2);
      assertEqual(batch, direct);
      // The whole column is a value as well: a list of its values.
      assertSame(read(NestedType.listOf(type), bytes(NestedType.listOf(type), values)), values);
    }
  }

  private static void assertEqual(NestedColumn found, NestedColumn expected) {
    assertThat(found.count()).isEqualTo(expected.count());
    assertThat(found.absentCount()).isEqualTo(expected.absentCount());
    assertThat(Arrays.copyOf(found.data(), found.dataBytes()))
        .isEqualTo(Arrays.copyOf(expected.data(), expected.dataBytes()));
    boolean hasOffsets = !(found.type() instanceof NestedType.StructOf)
        && !(found.type() instanceof NestedType.Leaf leaf && !leaf.isVariable());
    for (int i = 0; i < found.count(); i++) {
      assertThat(found.isAbsent(i)).isEqualTo(expected.isAbsent(i));
      if (hasOffsets) {
        assertThat(found.start(i)).isEqualTo(expected.start(i));
        assertThat(found.end(i)).isEqualTo(expected.end(i));
      }
    }
    for (int k = 0; k < found.type().children().size(); k++) {
      assertEqual(found.child(k), expected.child(k));
    }
  }

  /** Every byte, in several ways; a value that is still valid must be readable to its end. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void anyByteChangedIsDamageOrAnotherValue(int part) {
    int valid = 0;
    int damaged = 0;
    // Types of which no byte, or each byte, is damage are few: 100 of one kind do not come.
    int least = Budget.of(10);
    for (int number = 0;
        number < least || (number < least + 100 && (valid == 0 || damaged == 0));
        number++) {
      RandomNested random = random(part, number);
      NestedType type = random.root();
      byte[] bytes = bytes(type, random.value(type));
      NestedView view = new NestedView(type);
      for (int i = 0; i < bytes.length; i++) {
        for (int flip : new int[] {0x01, 0x80, 0xff}) {
          byte[] changed = bytes.clone();
          changed[i] ^= (byte) flip;
          if (isReadable(view, changed)) {
            valid++;
          } else {
            damaged++;
          }
        }
      }
    }
    assertThat(valid).isPositive();
    assertThat(damaged).isPositive();
  }

  @Test
  void anyLengthAndAnyGarbageIsDamageOrAValue() {
    Random random = Budget.random();
    for (int number = Budget.of(20); number > 0; number--) {
      RandomNested types = random(0, number);
      NestedType type = types.root();
      NestedView view = new NestedView(type);
      byte[] bytes = bytes(type, types.value(type));
      for (int length = 0; length < bytes.length; length++) {
        byte[] cut = Arrays.copyOf(bytes, length);
        assertThatThrownBy(() -> view.read("test", ByteBuffer.wrap(cut)))
            .isInstanceOf(CorruptDataException.class);
      }
      byte[] longer = Arrays.copyOf(bytes, bytes.length + 8);
      assertThatThrownBy(() -> view.read("test", ByteBuffer.wrap(longer)))
          .isInstanceOf(CorruptDataException.class);
      for (int i = 0; i < 200; i++) {
        byte[] garbage = bytes.clone();
        for (int k = 0; k < 4; k++) {
          garbage[random.nextInt(garbage.length)] = (byte) random.nextInt();
        }
        isReadable(view, garbage);
      }
    }
  }

  private static boolean isReadable(NestedView view, byte[] bytes) {
    NestedArray root;
    try {
      root = view.read("test", ByteBuffer.wrap(bytes));
    } catch (CorruptDataException e) {
      return false;
    }
    root.value(0);
    NestedColumn column = new NestedColumn(root.type());
    column.appendAll(root);
    assertThat(column.toBytes(NOTHING)).hasSizeLessThanOrEqualTo(bytes.length);
    return true;
  }

  private static final NestedType TURNS = NestedType.listOf(new NestedType.StructOf(List.of(
      new NestedType.Member("role", NestedType.of(ElementType.UTF8)),
      new NestedType.Member("box", NestedType.of(ElementType.I16, Shape.of(2))),
      new NestedType.Member("seen", NestedType.of(ElementType.BOOL)))));

  private static final List<Map<String, Object>> TWO_TURNS = List.of(
      Map.of("role", "user", "box", List.of(1, 2), "seen", true),
      Map.of("role", "me", "seen", false));

  /** The example of FORMAT.md, buffer by buffer. */
  @Test
  void theBuffersAreThoseOfArrow() {
    assertThat(HexFormat.of().formatHex(bytes(TURNS, TWO_TURNS)))
        .isEqualTo(
            // 9 buffers, 2 elements
            "0900000002000000"
                // lengths: struct; role: presence, offsets, data; box: presence, presence, data;
                // seen: presence, data
                + "00000000" + "00000000" + "0c000000" + "06000000"
                + "01000000" + "00000000" + "08000000" + "00000000" + "01000000" + "00000000"
                // offsets and text of "role"
                + "000000000400000006000000" + "00000000"
                + "757365726d65" + "0000"
                // presence and elements of "box"
                + "0100000000000000"
                + "0100020000000000"
                // bits of "seen"
                + "0100000000000000");
  }

  @Test
  void elementsAreReadInPlace() {
    ByteBuffer bytes = ByteBuffer.wrap(bytes(TURNS, TWO_TURNS)).order(ByteOrder.LITTLE_ENDIAN);
    NestedArray list = new NestedView(TURNS).read("test", bytes);
    NestedArray turns = list.child(0);
    assertThat(list.start(0)).isZero();
    assertThat(list.end(0)).isEqualTo(2);
    assertThat(turns.child(2).getBoolean(0)).isTrue();
    assertThat(turns.child(2).getBoolean(1)).isFalse();
    assertThat(turns.child(1).isAbsent(1)).isTrue();
    assertThat(turns.child(1).bytes(0)).containsExactly(1, 0, 2, 0);
    assertThat(turns.child(0).bytes(1)).asString().isEqualTo("me");
    assertThatThrownBy(() -> turns.child(0).start(2)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> turns.child(2).getBoolean(-1))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatIllegalStateException().isThrownBy(() -> turns.child(2).getInt(0));
  }

  @Test
  void aViewThatFailedHasNoValue() {
    NestedView view = new NestedView(TURNS);
    NestedArray list = view.read("test", ByteBuffer.wrap(bytes(TURNS, TWO_TURNS)));
    assertThatThrownBy(() -> view.read("the file", ByteBuffer.allocate(16)))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("the file");
    assertThat(list.count()).isZero();
    assertThat(list.child(0).count()).isZero();
  }

  @Test
  void valuesThatAreNotWholeAreRefused() {
    NestedColumn column = new NestedColumn(TURNS);
    assertThatIllegalStateException().isThrownBy(() -> column.toBytes(NOTHING));
    column.child(0).child(0).put("a".getBytes(java.nio.charset.StandardCharsets.UTF_8), 0, 1);
    assertThatIllegalStateException().isThrownBy(() -> column.child(0).endValue());
    assertThatIllegalArgumentException()
        .isThrownBy(() -> column.child(0).child(1).putInt(1));
    NestedColumn map = new NestedColumn(
        NestedType.mapOf(NestedType.of(ElementType.I32), NestedType.of(ElementType.I32)));
    assertThatIllegalArgumentException().isThrownBy(() -> map.child(0).putAbsent());
    map.child(0).putInt(1);
    assertThatIllegalStateException().isThrownBy(map::endValue);
    map.child(1).putAbsent();
    map.endValue();
    assertThat(map.toBytes(NOTHING)).isNotEmpty();
  }

  @Test
  void typesBeyondTheLimitsAreRefused() {
    NestedType type = NestedType.of(ElementType.I8);
    for (int depth = 1; depth <= NestedType.MAX_DEPTH; depth++) {
      type = NestedType.listOf(type);
      assertThat(ElementType.nested(type).widthBytes()).isEmpty();
    }
    NestedType deeper = NestedType.listOf(type);
    assertThatIllegalArgumentException().isThrownBy(() -> ElementType.nested(deeper));
    List<NestedType.Member> members = new ArrayList<>();
    for (int k = 0; k < NestedType.MAX_TYPES - 1; k++) {
      members.add(new NestedType.Member("m" + k, NestedType.of(ElementType.I8)));
    }
    ElementType.nested(new NestedType.StructOf(members));
    members.add(new NestedType.Member("more", NestedType.of(ElementType.I8)));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ElementType.nested(new NestedType.StructOf(members)));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ElementType.nested(NestedType.of(ElementType.I8)));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> NestedType.of(ElementType.I8, Shape.of(-1)));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> NestedType.of(ElementType.I8, Shape.of(2, 0)));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> NestedType.of(ElementType.UTF8, Shape.of(2)));
    assertThatIllegalArgumentException().isThrownBy(() -> new NestedType.StructOf(List.of()));
  }
}
