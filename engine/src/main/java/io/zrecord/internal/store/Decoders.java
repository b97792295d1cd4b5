package io.zrecord.internal.store;

import io.zrecord.internal.format.ValueCodec;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Native decoding contexts that wait for their next use: as many as threads ever decoded at once. A reader has no end at which
 * it could free one, and making one for each batch would cost more than decoding it. Thread-safe.
 */
public final class Decoders {
  private static final Map<Codec, Queue<ValueCodec>> IDLE = new ConcurrentHashMap<>();

  private Decoders() {}

  /** A decoder that belongs to the caller until it is given back. */
  public static ValueCodec take(Codec codec) {
    ValueCodec decoder = idle(codec).poll();
    return decoder != null ? decoder : ValueCodec.of(Compression.of(codec));
  }

  public static void giveBack(Codec codec, ValueCodec decoder) {
    idle(codec).add(decoder);
  }

  private static Queue<ValueCodec> idle(Codec codec) {
    return IDLE.computeIfAbsent(codec, key -> new ConcurrentLinkedQueue<>());
  }
}
