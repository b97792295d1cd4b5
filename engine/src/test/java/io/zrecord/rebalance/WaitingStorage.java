package io.zrecord.rebalance;

import io.zrecord.storage.Storage;
import io.zrecord.testing.ForwardingStorage;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits for the kill of its process before the first version is published, when all files of the
 * version are written. It prints {@link #SAID} then.
 */
final class WaitingStorage extends ForwardingStorage {
  static final char SAID = 'w';

  WaitingStorage(Storage storage) {
    super(storage);
  }

  @Override
  public boolean publish(String name, byte[] content) {
    if (!name.startsWith("manifest/")) {
      return super.publish(name, content);
    }
    System.out.print(SAID);
    System.out.flush();
    while (true) {
      LockSupport.park();
    }
  }
}
