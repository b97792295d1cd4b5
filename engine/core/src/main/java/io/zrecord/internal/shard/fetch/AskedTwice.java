package io.zrecord.internal.shard.fetch;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.storage.Storage;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Function;

/**
 * Asks a storage once more for bytes that were found damaged: they may have come wrong, and be
 * right where they are stored. Stateless.
 */
public final class AskedTwice {
  private AskedTwice() {}

  /**
   * Reads a small file.
   *
   * @param parsing throws a {@link CorruptDataException} if the bytes are damaged
   */
  public static <T> T read(
      Storage storage, String name, int maxBytes, Function<byte[], T> parsing) {
    byte[] content = storage.read(name, maxBytes);
    try {
      return parsing.apply(content);
    } catch (CorruptDataException first) {
      if (!storage.isRemote()) {
        throw first;
      }
      byte[] again = storage.uncached().read(name, maxBytes);
      try {
        return parsing.apply(again);
      } catch (CorruptDataException second) {
        throw damaged(first, second, Arrays.equals(content, again));
      }
    }
  }

  /** Returns the exception for damage that was found twice. */
  public static CorruptDataException damaged(
      CorruptDataException first, CorruptDataException second) {
    return damaged(first, second, Objects.equals(first.getMessage(), second.getMessage()));
  }

  private static CorruptDataException damaged(
      CorruptDataException first, CorruptDataException second, boolean areAlike) {
    second.addSuppressed(first);
    return new CorruptDataException(
        second.resource(),
        second.getMessage()
            + (areAlike
                ? ". The bytes were asked for twice and came alike, so the file is damaged"
                : ". The bytes were asked for twice and came differently: look at the network, and"
                    + " at proxies and caches before the storage, before the file is replaced"),
        second);
  }
}
