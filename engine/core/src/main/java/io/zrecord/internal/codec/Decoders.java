package io.zrecord.internal.codec;

import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Native decoding contexts that wait for their next use: at most one for each thread that ever
 * decoded at the same time. A reader has no end at which it could free a context, and making one
 * for each batch would cost more than decoding the batch. Thread-safe.
 */
public final class Decoders {
  private static final Map<Codec, Queue<ValueCodec>> IDLE = new ConcurrentHashMap<>();

  private Decoders() {}

  /** Takes a decoder, which belongs to the caller until it is given back. */
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
