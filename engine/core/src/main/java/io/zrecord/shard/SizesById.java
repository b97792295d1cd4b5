package io.zrecord.shard;

import java.io.Serializable;
import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A number for each of some fields, in rising order of the ids. Takes eight bytes a field, because
 * shards with the same fields, which most neighbours are, share the ids. Immutable.
 */
@SuppressWarnings("JdkObsolete") // The map of the summary is a SortedMap.
final class SizesById extends AbstractMap<Integer, Long>
    implements SortedMap<Integer, Long>, Serializable {
  private static final long serialVersionUID = 1;

  /** Ids of the last shard, for the next. */
  private static volatile int[] lastIds = {};

  private final int[] ids;
  private final long[] sizes;

  private SizesById(int[] ids, long[] sizes) {
    this.ids = ids;
    this.sizes = sizes;
  }

  static SizesById of(SortedMap<Integer, Long> sizes) {
    if (sizes instanceof SizesById same) {
      return same;
    }
    int[] ids = new int[sizes.size()];
    long[] bytes = new long[ids.length];
    int i = 0;
    for (Map.Entry<Integer, Long> entry : sizes.entrySet()) {
      ids[i] = entry.getKey();
      bytes[i++] = entry.getValue();
    }
    return new SizesById(shared(ids), bytes);
  }

  private static int[] shared(int[] ids) {
    int[] last = lastIds;
    if (Arrays.equals(last, ids)) {
      return last;
    }
    lastIds = ids;
    return ids;
  }

  private Object readResolve() {
    return new SizesById(shared(ids), sizes);
  }

  @Override
  public boolean containsKey(@Nullable Object key) {
    return key instanceof Integer id && Arrays.binarySearch(ids, id) >= 0;
  }

  @Override
  public @Nullable Long get(@Nullable Object key) {
    int found = key instanceof Integer id ? Arrays.binarySearch(ids, id) : -1;
    return found < 0 ? null : sizes[found];
  }

  @Override
  public Set<Map.Entry<Integer, Long>> entrySet() {
    return new AbstractSet<>() {
      @Override
      public int size() {
        return ids.length;
      }

      @Override
      public Iterator<Map.Entry<Integer, Long>> iterator() {
        return IntStream.range(0, ids.length)
            .<Map.Entry<Integer, Long>>mapToObj(i -> Map.entry(ids[i], sizes[i]))
            .iterator();
      }
    };
  }

  @Override
  public @Nullable Comparator<? super Integer> comparator() {
    return null;
  }

  @Override
  public SortedMap<Integer, Long> subMap(Integer from, Integer to) {
    return of(new TreeMap<>(this).subMap(from, to));
  }

  @Override
  public SortedMap<Integer, Long> headMap(Integer to) {
    return of(new TreeMap<>(this).headMap(to));
  }

  @Override
  public SortedMap<Integer, Long> tailMap(Integer from) {
    return of(new TreeMap<>(this).tailMap(from));
  }

  @Override
  public Integer firstKey() {
    return key(0);
  }

  @Override
  public Integer lastKey() {
    return key(ids.length - 1);
  }

  private Integer key(int i) {
    if (ids.length == 0) {
      throw new NoSuchElementException("No field has a size");
    }
    return ids[i];
  }
}
