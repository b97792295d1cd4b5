package io.zrecord.spark.scan;

import java.lang.ref.SoftReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Values that tasks of this process make once, and keep while there is memory. Thread-safe; a
 * thread that asks for a value while the value is being made waits for it, and threads that ask for
 * others do not.
 */
final class SoftValues<K, V> {
  private final Map<K, Entry<V>> entries = new ConcurrentHashMap<>();

  /** Returns the value of a key, made now unless somebody has made it. */
  V get(K key, Supplier<V> maker) {
    entries.values().removeIf(Entry::isForgotten);
    Entry<V> entry = entries.computeIfAbsent(key, absent -> new Entry<>());
    boolean isMade = false;
    try {
      V value = entry.get(maker);
      isMade = true;
      return value;
    } finally {
      if (!isMade) {
        entries.remove(key, entry);
      }
    }
  }

  /** A value, made at the first request. */
  private static final class Entry<V> {
    private volatile @Nullable SoftReference<V> reference;

    boolean isForgotten() {
      SoftReference<V> known = reference;
      return known != null && known.get() == null;
    }

    synchronized V get(Supplier<V> maker) {
      SoftReference<V> known = reference;
      V value = known == null ? null : known.get();
      if (value == null) {
        value = maker.get();
        reference = new SoftReference<>(value);
      }
      return value;
    }
  }
}
