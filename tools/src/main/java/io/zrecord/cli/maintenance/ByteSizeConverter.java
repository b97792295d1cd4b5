package io.zrecord.cli.maintenance;

import io.zrecord.storage.ByteSize;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads an option that is a number of bytes, such as {@code 1048576}, {@code 1m} or {@code 2g}. */
public final class ByteSizeConverter implements ITypeConverter<Long> {
  @Override
  public Long convert(String text) {
    try {
      return ByteSize.parse(text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
  }
}
