package io.zrecord.internal.format;

import io.zrecord.internal.codec.Transforms;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Transform;

/**
 * Says what the raw bytes of a block are: values of one width, or lengths and values (FORMAT.md
 * section 5).
 *
 * @param valueWidth bytes of each value; -1 if lengths differ
 * @param elementWidth bytes of the numbers of which values consist; 1 for strings and bytes
 */
public record BlockShape(int valueWidth, int elementWidth) {
  private static final int AS_IS = 1;
  private static final int TRANSFORM_SHIFT = 1;
  private static final int KNOWN_FLAGS = 7;

  /** Returns the shape of the blocks of a field. */
  public static BlockShape of(ElementType type, Shape shape) {
    int element = type.widthBytes().orElse(1);
    boolean varies = type.widthBytes().isEmpty() || shape.isVariable();
    return new BlockShape(varies ? -1 : element * shape.elementCount().orElseThrow(), element);
  }

  public boolean isFixed() {
    return valueWidth > 0;
  }

  /** Returns the bytes of the lengths that precede the values. A lone value needs none. */
  public int lengthBytes(int slots) {
    return isFixed() || slots == 1 ? 0 : slots * Integer.BYTES;
  }

  /** Tells whether the numbers of the values can be transformed. */
  public boolean takes(Transform transform) {
    return switch (transform) {
      case AUTO, NONE -> true;
      case TRANSPOSE -> Transforms.canTranspose(elementWidth);
      case DELTA -> Transforms.hasDifferences(elementWidth);
    };
  }

  /** Returns the flags of a block that was compressed after a transform. */
  public static int flags(Transform transform) {
    return switch (transform) {
      case TRANSPOSE -> 1 << TRANSFORM_SHIFT;
      case DELTA -> 2 << TRANSFORM_SHIFT;
      default -> 0;
    };
  }

  /** Returns the flags of a block that is stored as it is. */
  public static int flagsAsIs() {
    return AS_IS;
  }

  public static boolean isAsIs(int flags) {
    return (flags & AS_IS) != 0;
  }

  /** Tells whether flags have bits that this release does not know. */
  public static boolean isUnknown(int flags) {
    return (flags & ~KNOWN_FLAGS) != 0 || flags >>> TRANSFORM_SHIFT == 3;
  }

  /** Tells whether a block of this shape may have some known flags. */
  public boolean allows(int flags) {
    return isAsIs(flags) ? flags == AS_IS : takes(transform(flags));
  }

  /** Returns the transform that known flags tell. */
  public static Transform transform(int flags) {
    return switch (flags >>> TRANSFORM_SHIFT) {
      case 1 -> Transform.TRANSPOSE;
      case 2 -> Transform.DELTA;
      default -> Transform.NONE;
    };
  }
}
