package io.zrecord.internal.shard.write;

/** Gives the bytes of a table, from its beginning to its end. */
public interface TableSource {
  /** Copies the next bytes. */
  void read(byte[] target, int offset, int length);
}
