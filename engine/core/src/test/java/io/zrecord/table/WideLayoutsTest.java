package io.zrecord.table;

import io.zrecord.storage.Storage;
import io.zrecord.testing.ObjectStorage;

/** Changes of many values, and moves of records, in a store of objects in memory. */
final class WideLayoutsTest extends WideLayouts {
  @Override
  protected Storage emptyStorage() {
    return new ObjectStorage();
  }
}
