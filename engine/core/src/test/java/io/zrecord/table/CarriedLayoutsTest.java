package io.zrecord.table;

import io.zrecord.storage.Storage;
import io.zrecord.testing.ObjectStorage;

/** Changes that follow their records, in a store of objects in memory. */
final class CarriedLayoutsTest extends CarriedLayouts {
  @Override
  protected Storage emptyStorage() {
    return new ObjectStorage();
  }
}
