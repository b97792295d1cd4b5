package io.zrecord.table;

import io.zrecord.errors.StorageException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.util.regex.Pattern;

/**
 * Looks for damaged manifests that a repair moved aside: the files that they name may be wanted.
 */
final class MovedAside {
  private static final Pattern NAME = Pattern.compile("\\d{20}\\.json\\..*");

  private MovedAside() {}

  /**
   * Requires that there is none.
   *
   * @throws StorageException if there is one
   */
  static void requireNone(Storage storage) {
    for (StoredFile file : storage.list(ManifestNames.DIRECTORY)) {
      if (NAME.matcher(file.name()).matches()) {
        String path = storage.pathOf(ManifestNames.DIRECTORY + "/" + file.name());
        throw new StorageException(
            path,
            "Cannot tell what " + storage.location() + " still needs: "
                + (file.name().contains(".damaged-")
                    ? "a repair left " + path
                        + ", which cannot be read; delete it when its version is given up"
                    : path
                        + " has the name of a manifest and something behind it, as a copy has that"
                        + " was not finished; delete it, or give it the name of its manifest if that"
                        + " is missing"));
      }
    }
  }
}
