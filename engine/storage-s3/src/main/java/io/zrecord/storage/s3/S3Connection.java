package io.zrecord.storage.s3;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * A client of the SDK with what is known of its server. Thread-safe.
 *
 * @param client sends the requests
 * @param hedge asks for small ranges again if the answer is late
 * @param conditional roots of storages at which the server was seen to enforce conditions
 */
record S3Connection(S3Client client, HedgedReads hedge, Set<String> conditional) {
  private static final Map<S3Options, S3Connection> SHARED = new ConcurrentHashMap<>();

  /** Returns the connection of this process with some options, which is never closed. */
  static S3Connection shared(S3Options options) {
    return SHARED.computeIfAbsent(options, o -> of(S3Clients.create(o)));
  }

  /** Returns a connection that uses a client. */
  static S3Connection of(S3Client client) {
    return new S3Connection(client, new HedgedReads(), ConcurrentHashMap.newKeySet());
  }
}
