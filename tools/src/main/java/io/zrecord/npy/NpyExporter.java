package io.zrecord.npy;

import io.zrecord.RecordDataset;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.stream.Collectors;

/**
 * Writes a field whose values have one shape to a {@code .npy} file, with the records along the
 * first axis: the reverse of {@link NpyImporter}. Dates become {@code datetime64[D]}, timestamps
 * become {@code datetime64[us]}, and absent ones become NaT; values of other types must all be
 * present. Copies blocks of 8 MiB, or one record if that is larger. Stateless.
 */
public final class NpyExporter {
  private static final int BLOCK_BYTES = 8 << 20;
  /** Alignment of the elements, as in NumPy's files. */
  private static final int ALIGNMENT = 64;

  private static final int PREFIX_BYTES = 10;

  private NpyExporter() {}

  /**
   * Writes a file, which must not exist. The file appears under its name once it is whole.
   *
   * @throws IllegalArgumentException if there is no such field
   * @throws SchemaMismatchException if the field's values cannot be in an array; the message says
   *     why
   * @throws io.zrecord.errors.DatasetExistsException if the file exists
   */
  public static void export(RecordDataset dataset, String field, Path file) {
    FieldReader reader = dataset.reader(field);
    FieldSpec spec = reader.field();
    String description = description(spec);
    try (WholeFile target = new WholeFile(file)) {
      target.write(ByteBuffer.wrap(header(spec, description, dataset.length())));
      int width = spec.valueWidthBytes().orElseThrow();
      int perBlock = Math.max(1, BLOCK_BYTES / Math.max(1, width));
      ByteBuffer block =
          ByteBuffer.allocate(Math.multiplyExact(perBlock, width)).order(ByteOrder.LITTLE_ENDIAN);
      for (long first = 0; first < dataset.length(); ) {
        int wanted = (int) Math.min(perBlock, dataset.length() - first);
        int count = reader.selectRange(first, wanted, Long.MAX_VALUE);
        reader.copyAll(block.clear());
        block.flip();
        target.write(isTime(spec) ? times(spec, reader, block) : present(reader, first, block));
        first += count;
      }
      target.publish();
    }
  }

  private static ByteBuffer present(FieldReader reader, long first, ByteBuffer block) {
    for (int i = 0; reader.hasAbsent() && i < reader.count(); i++) {
      if (reader.isAbsent(i)) {
        throw refused(
            reader.field(),
            "the value of record " + (first + i)
                + " is absent, and an array has no place for that");
      }
    }
    return block;
  }

  private static boolean isTime(FieldSpec field) {
    return switch (field.type().kind()) {
      case DATE, TIMESTAMP, TIMESTAMP_NTZ -> true;
      default -> false;
    };
  }

  /** Converts times to i64, whose smallest number is NaT. */
  private static ByteBuffer times(FieldSpec field, FieldReader reader, ByteBuffer block) {
    boolean isDate = field.type().equals(ElementType.DATE);
    int perValue = block.remaining() / field.type().widthBytes().orElseThrow() / reader.count();
    ByteBuffer times = ByteBuffer.allocate(
            Math.multiplyExact(reader.count() * perValue, Long.BYTES))
        .order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < reader.count(); i++) {
      for (int k = 0; k < perValue; k++) {
        long time = isDate ? block.getInt() : block.getLong();
        times.putLong(reader.isAbsent(i) ? Long.MIN_VALUE : time);
      }
    }
    return times.flip();
  }

  private static byte[] header(FieldSpec field, String description, long recordCount) {
    String inner = field.shape().dimensions().stream()
        .map(dimension -> " " + dimension)
        .collect(Collectors.joining(","));
    String dictionary = "{'descr': '" + description + "', 'fortran_order': False, 'shape': ("
        + recordCount + "," + inner + "), }";
    int unpadded = PREFIX_BYTES + dictionary.length() + 1;
    int length = (unpadded + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    byte[] header = new byte[length];
    java.util.Arrays.fill(header, (byte) ' ');
    ByteBuffer.wrap(header)
        .order(ByteOrder.LITTLE_ENDIAN)
        .put((byte) 0x93)
        .put("NUMPY".getBytes(StandardCharsets.US_ASCII))
        .put((byte) 1)
        .put((byte) 0)
        .putShort((short) (length - PREFIX_BYTES))
        .put(dictionary.getBytes(StandardCharsets.US_ASCII));
    header[length - 1] = '\n';
    return header;
  }

  private static String description(FieldSpec field) {
    if (field.valueWidthBytes().isEmpty()) {
      throw refused(field, "its values have no fixed shape");
    }
    return switch (field.type().kind()) {
      case BOOL -> "|b1";
      case I8 -> "|i1";
      case U8 -> "|u1";
      case I16 -> "<i2";
      case U16 -> "<u2";
      case I32 -> "<i4";
      case U32 -> "<u4";
      case I64 -> "<i8";
      case U64 -> "<u8";
      case F16 -> "<f2";
      case F32 -> "<f4";
      case F64 -> "<f8";
      case DATE -> "<M8[D]";
      case TIMESTAMP, TIMESTAMP_NTZ -> "<M8[us]";
      default -> throw refused(field, "NumPy has no such type");
    };
  }

  private static SchemaMismatchException refused(FieldSpec field, String reason) {
    return new SchemaMismatchException(
        field.name(),
        "Cannot export field '" + field.name() + "' of type " + field.type()
            + (field.shape().isScalar() ? "" : " and shape " + field.shape()) + ": " + reason
            + "; export another field, or read it with a program");
  }
}
