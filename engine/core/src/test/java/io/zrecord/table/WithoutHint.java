package io.zrecord.table;

import io.zrecord.errors.MissingFileException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.storage.Storage;
import io.zrecord.testing.ForwardingStorage;

/**
 * A storage on which the hint of the newest version is never there, as after the power loss that a
 * hint may not survive. Whoever looks for the newest version lists the directory.
 */
class WithoutHint extends ForwardingStorage {
  WithoutHint(Storage storage) {
    super(storage);
  }

  @Override
  public byte[] read(String name, int maxBytes) {
    if (name.equals(ManifestNames.HINT)) {
      throw new MissingFileException(pathOf(name), "There is no hint");
    }
    return super.read(name, maxBytes);
  }

  @Override
  public void replace(String name, byte[] content) {
    if (!name.equals(ManifestNames.HINT)) {
      super.replace(name, content);
    }
  }
}
